//! A client on the bare wire that answers what it is asked with whatever a test wants.

use brattice_protocol::codec::encode;
use brattice_protocol::{Message, Request, RequestId, Response};
use brattice_tests::{Wire, World};
use serde_json::{Value, json};

/// It, with a session of its own that plans.
pub(crate) struct Answering {
    wire: Wire,
    session: Value,
    next: i64,
}

impl Answering {
    /// Connects, declares what it answers, and opens a session.
    pub(crate) fn open(world: &World, answers: &[&str]) -> Answering {
        let mut wire = Wire::connect(&world.socket());
        let client = json!({"name": "bare", "version": "1"});
        wire.request("hello", json!({"protocol": 1, "client": client, "answers": answers}))
            .unwrap();
        let plan = answers.contains(&"plan");
        let options = json!({"loop_detector": false});
        let params = json!({"workspace": world.ws(), "plan": plan, "options": options});
        let session = wire.request("session.open", params).unwrap()["session"].clone();
        Answering { wire, session, next: 1000 }
    }

    /// Makes a call, answers the one request that comes of it, and tells the result's text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value, answer: Value) -> String {
        self.next += 1;
        let params = json!({"session": self.session, "name": tool, "arguments": arguments});
        let id = RequestId::Number(self.next);
        let request = Request { id: id.clone(), method: "tools.call".to_owned(), params };
        self.wire.send(&encode(&Message::Request(request))).unwrap();
        loop {
            match self.wire.read().expect("the daemon goes on") {
                Message::Request(asked) => {
                    let response = Response { id: Some(asked.id), outcome: Ok(answer.clone()) };
                    self.wire.send(&encode(&Message::Response(response))).unwrap();
                }
                Message::Response(Response { id: Some(other), outcome }) if other == id => {
                    return outcome.unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
                }
                Message::Response(_) | Message::Notification(_) => {}
            }
        }
    }
}
