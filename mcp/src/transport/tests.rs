//! Bounds on what comes in and what goes out, over pipes in memory.

use std::time::Duration;

use rmcp::model::{EmptyResult, RequestId, ServerResult};
use rmcp::transport::Transport as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use super::*;
use brattice_client::protocol::codec::MAX_MESSAGE;

/// A client's two ends, and the transport.
struct Ends {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    transport: Transport<DuplexStream>,
}

fn ends(room: usize) -> Ends {
    let (input, from) = tokio::io::duplex(64 << 10);
    let (to, output) = tokio::io::duplex(room);
    Ends { input, output: BufReader::new(output), transport: Transport::over(from, to) }
}

impl Ends {
    async fn send(&mut self, text: &str) {
        self.input.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    async fn told(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn ping(id: u64) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()
}

#[tokio::test]
async fn a_line_that_is_read_in_pieces_is_one_message() {
    let mut ends = ends(1 << 20);
    let text = ping(1);
    let (first, second) = text.split_at(10);
    ends.input.write_all(first.as_bytes()).await.unwrap();
    // The read is begun, dropped, and begun again.
    let begun = tokio::time::timeout(Duration::from_millis(20), ends.transport.receive()).await;
    assert!(begun.is_err());
    ends.send(second).await;
    assert!(matches!(ends.transport.receive().await, Some(ClientJsonRpcMessage::Request(_))));
}

#[tokio::test]
async fn a_line_of_the_most_bytes_is_read_and_one_more_ends_it() {
    let padded = |bytes: usize| {
        let message = |text: &str| {
            json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"p": text}}).to_string()
        };
        message(&"x".repeat(bytes - message("").len()))
    };
    for (bytes, code) in [(MAX_MESSAGE, None), (MAX_MESSAGE + 1, Some(-32600))] {
        let Ends { mut input, output, mut transport } = ends(1 << 20);
        let writing = tokio::spawn(async move {
            // The rest of a line that is too long is not read.
            input.write_all(format!("{}\n", padded(bytes)).as_bytes()).await.ok();
            input
        });
        let received = transport.receive().await;
        assert_eq!(received.is_some(), code.is_none(), "{bytes}");
        if let Some(code) = code {
            let mut line = String::new();
            BufReader::new(output).read_line(&mut line).await.unwrap();
            let told: Value = serde_json::from_str(&line).unwrap();
            assert_eq!((&told["error"]["code"], told.get("id")), (&json!(code), None));
            assert!(matches!(transport.end().await, Ended::Garbled(_)));
        }
        writing.abort();
    }
}

#[tokio::test]
async fn a_request_holds_its_place_until_it_is_dropped() {
    let mut ends = ends(1 << 20);
    let mut held = Vec::new();
    for id in 0..MOST_REQUESTS as u64 {
        ends.send(&ping(id)).await;
        held.extend(ends.transport.receive().await);
    }
    ends.send(&ping(64)).await;
    ends.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
    let next = ends.transport.receive().await;
    assert!(matches!(next, Some(ClientJsonRpcMessage::Notification(_))), "others are still read");
    let refused = ends.told().await;
    assert_eq!((&refused["id"], &refused["error"]["data"]["code"]), (&json!(64), &json!("busy")));
    held.pop();
    ends.send(&ping(65)).await;
    assert!(ends.transport.receive().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_from_a_client_that_does_not_read_and_it_is_given_up() {
    let mut ends = ends(1);
    let result = || ServerResult::EmptyResult(EmptyResult {});
    for id in 0..MOST_UNWRITTEN as i64 {
        let answer = ServerJsonRpcMessage::response(result(), RequestId::Number(id));
        tokio::spawn(ends.transport.send(answer));
    }
    ends.send(&ping(1)).await;
    let reading = tokio::time::timeout(Duration::from_secs(29), ends.transport.receive()).await;
    assert!(reading.is_err(), "nothing is read");
    assert!(ends.transport.receive().await.is_none());
    assert_eq!(ends.transport.end().await, Ended::Unread);
    let late = ServerJsonRpcMessage::response(result(), RequestId::Number(0));
    assert!(ends.transport.send(late).await.is_err());
}

#[tokio::test]
async fn what_is_in_flight_is_written_after_the_input_is_over() {
    let Ends { input, output, mut transport } = ends(1 << 20);
    drop(input);
    assert!(transport.receive().await.is_none());
    assert!(transport.input_over().is_cancelled());
    let answer = ServerResult::EmptyResult(EmptyResult {});
    transport.send(ServerJsonRpcMessage::response(answer, RequestId::Number(1))).await.unwrap();
    transport.close().await.unwrap();
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).await.unwrap();
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}
