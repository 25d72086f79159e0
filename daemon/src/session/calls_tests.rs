//! Tests of the ledger of calls.

use super::*;
use brattice_protocol::SessionId;
use serde_json::json;

/// Where nothing can be written, which is no reason not to take a call.
const NOWHERE: &str = "/nonexistent";

fn ledger() -> Arc<Calls> {
    Calls::new(Arc::default(), Path::new(NOWHERE))
}

#[tokio::test]
async fn a_call_that_an_earlier_daemon_took_does_not_run_again() {
    let scratch = crate::session::testing::Scratch::new();
    let open = || Calls::new(Arc::default(), &scratch.path(""));
    let first = open();
    new(&first, &params("a", json!({"x": 1}))).finish(result("one"));
    let _running = new(&first, &params("b", json!({})));
    new(&first, &params("c", json!({}))).withdraw(result("busy"));
    let next = open();
    for (call, arguments) in [("a", json!({"x": 1})), ("b", json!({}))] {
        let error = known(&next, &params(call, arguments)).result().await.unwrap_err();
        assert!(error.is(ErrorCode::Unavailable), "{error:?}");
    }
    assert!(next.admit(&params("a", json!({"x": 2}))).unwrap_err().is(ErrorCode::Invalid));
    new(&next, &params("c", json!({})));
}

fn params(call: &str, arguments: Value) -> CallParams<Value> {
    CallParams {
        session: SessionId::new("s"),
        call: Some(CallId::new(call)),
        name: "bash".to_owned(),
        arguments,
        patience_ms: None,
    }
}

fn result(text: &str) -> Body {
    Body::of(text).unwrap()
}

fn new(calls: &Arc<Calls>, params: &CallParams<Value>) -> RunningCall {
    match calls.admit(params).unwrap() {
        Admission::New(call) => call,
        Admission::Known(call) => unreachable!("{call:?}"),
    }
}

fn known(calls: &Arc<Calls>, params: &CallParams<Value>) -> KnownCall {
    match calls.admit(params).unwrap() {
        Admission::Known(call) => call,
        Admission::New(call) => unreachable!("{call:?}"),
    }
}

#[tokio::test]
async fn the_same_call_again_waits_for_the_first_and_returns_its_result() {
    let calls = ledger();
    let first = new(&calls, &params("a", json!({"x": 1, "y": 2})));
    let again = params("a", json!({"y": 2, "x": 1}));
    let waiting = tokio::spawn(known(&calls, &again).result());
    first.finish(result("one"));
    assert_eq!(waiting.await.unwrap(), Ok(result("one")));
    assert_eq!(known(&calls, &again).result().await, Ok(result("one")));
}

#[tokio::test]
async fn an_id_with_other_arguments_or_another_tool_is_invalid() {
    let calls = ledger();
    let _first = new(&calls, &params("a", json!({"x": 1})));
    for arguments in [json!({"x": 2}), json!("x"), json!(null)] {
        let other = calls.admit(&params("a", arguments)).unwrap_err();
        assert!(other.is(ErrorCode::Invalid), "{other:?}");
    }
    let tool = CallParams { name: "read".to_owned(), ..params("a", json!({"x": 1})) };
    assert!(calls.admit(&tool).is_err());
}

#[test]
fn an_id_that_is_none_is_invalid() {
    for id in [String::new(), "x".repeat(MAX_ID + 1)] {
        let error = ledger().admit(&params(&id, json!({}))).unwrap_err();
        let expected = format!("params.call: expected 1 to 256 bytes, got {}", id.len());
        assert_eq!(error.message, expected);
    }
}

#[test]
fn a_call_without_an_id_gets_one_that_nobody_uses() {
    let calls = ledger();
    let unnamed = CallParams { call: None, ..params("", json!({})) };
    let _clients = new(&calls, &params("call-1", json!({})));
    let made = [(); 2].map(|()| new(&calls, &unnamed));
    assert_eq!(made.each_ref().map(|call| call.id().as_str()), ["call-2", "call-3"]);
}

#[tokio::test]
async fn a_call_that_did_not_run_or_broke_frees_its_id() {
    let calls = ledger();
    let call = params("a", json!({}));
    let first = new(&calls, &call);
    let waiting = known(&calls, &call);
    first.withdraw(result("full"));
    assert_eq!(waiting.result().await, Ok(result("full")));
    let second = new(&calls, &call);
    let waiting = known(&calls, &call);
    drop(second);
    let broken = waiting.result().await.unwrap_err();
    assert_eq!(broken.message, "call \"a\" has no result: the daemon failed at it");
    new(&calls, &call).finish(result("third"));
    assert_eq!(known(&calls, &call).result().await, Ok(result("third")));
}

#[tokio::test]
async fn a_cancel_reaches_only_the_running_call_it_names() {
    let calls = ledger();
    calls.cancel(&CallId::new("unknown"));
    let (a, b) = (new(&calls, &params("a", json!({}))), new(&calls, &params("b", json!({}))));
    calls.cancel(a.id());
    a.cancelled().await;
    tokio::select! {
        biased;
        () = b.cancelled() => unreachable!("b was not cancelled"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn the_last_thousand_are_kept() {
    let calls = ledger();
    for number in 0..=KEPT_CALLS {
        new(&calls, &params(&number.to_string(), json!({}))).finish(result(&number.to_string()));
    }
    assert_eq!(calls.ledger().calls.len(), KEPT_CALLS);
    assert_eq!(known(&calls, &params("1", json!({}))).result().await, Ok(result("1")));
    drop(new(&calls, &params("0", json!({}))));
}

#[tokio::test]
async fn a_result_that_was_dropped_for_room_still_keeps_its_call_from_running_again() {
    let calls = ledger();
    let large = "x".repeat(KEPT_BYTES / 2);
    for name in ["a", "b", "c"] {
        new(&calls, &params(name, json!({}))).finish(result(&large));
    }
    let gone = known(&calls, &params("a", json!({}))).result().await.unwrap_err();
    assert_eq!(gone.message, "call \"a\" ran, and its result is no longer kept");
    assert_eq!(known(&calls, &params("c", json!({}))).result().await, Ok(result(&large)));
    assert!(calls.ledger().bytes <= KEPT_BYTES);
}

#[tokio::test]
async fn all_sessions_together_have_a_bound_and_a_session_that_ends_makes_room() {
    let budget = Arc::new(Budget::default());
    let (one, other) = (
        Calls::new(budget.clone(), Path::new(NOWHERE)),
        Calls::new(budget.clone(), Path::new(NOWHERE)),
    );
    // As if other sessions held the rest.
    budget.0.fetch_add(KEPT_BYTES_OF_ALL - 10, Ordering::Relaxed);
    for name in ["a", "b"] {
        new(&one, &params(name, json!({}))).finish(result("123456"));
    }
    assert!(known(&one, &params("a", json!({}))).result().await.is_err());
    assert_eq!(known(&one, &params("b", json!({}))).result().await, Ok(result("123456")));
    drop(one);
    for name in ["a", "b"] {
        new(&other, &params(name, json!({}))).finish(result("123"));
    }
    assert_eq!(known(&other, &params("a", json!({}))).result().await, Ok(result("123")));
    drop(other);
    assert_eq!(budget.0.load(Ordering::Relaxed), KEPT_BYTES_OF_ALL - 10);
}

#[tokio::test]
async fn settled_waits_for_what_runs() {
    let calls = ledger();
    let first = new(&calls, &params("a", json!({})));
    let waiting = tokio::spawn({
        let calls = calls.clone();
        async move { calls.settled().await }
    });
    first.finish(result("one"));
    waiting.await.unwrap();
}
