//! What a broken or hostile client gets, and that nobody else notices.

use std::time::Duration;

use brattice_protocol::codec::MAX_MESSAGE;
use serde_json::json;

use super::harness::{Running, Supervisor, limits};
use crate::server::Delivery;

/// Sends bytes after hello; they are answered by an error, and the connection closes while another
/// goes on.
async fn is_broken_by(bytes: &[u8], code: i64, text: &str, message: &str) {
    let server = Running::start();
    let mut neighbour = server.greet().await;
    let mut client = server.greet().await;
    client.send_while_open(bytes).await;
    client.is_turned_away(code, text, message).await;
    server.until_gone(2).await;
    neighbour.call(1, "echo", json!({})).await;
    assert_eq!(*server.script.gone.borrow(), [2]);
}

#[tokio::test]
async fn a_line_over_the_limit_is_too_large() {
    let line = vec![b'x'; MAX_MESSAGE + 100_000];
    is_broken_by(&line, -32600, "too_large", "message is longer than 4194304 bytes").await;
}

#[tokio::test]
async fn deep_nesting_is_too_large() {
    let line = format!("{{\"a\":{}\n", "[".repeat(100_000));
    let message = "message is nested deeper than 64 levels";
    is_broken_by(line.as_bytes(), -32600, "too_large", message).await;
}

#[tokio::test]
async fn a_batch_is_invalid() {
    let message = "batches are not supported: send one message a line";
    let line = b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}]\n";
    is_broken_by(line, -32600, "invalid", message).await;
}

#[tokio::test]
async fn bad_utf8_is_no_json() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n";
    let message = "message is not JSON: invalid unicode code point at line 1 column 35";
    is_broken_by(line, -32700, "invalid", message).await;
}

#[tokio::test]
async fn an_empty_line_is_no_json() {
    let message = "message is not JSON: EOF while parsing a value at line 1 column 0";
    is_broken_by(b"\n", -32700, "invalid", message).await;
}

#[tokio::test]
async fn another_json_rpc_is_invalid() {
    let line = b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}\n";
    let message = "not a JSON-RPC 2.0 message: \"jsonrpc\" must be \"2.0\"";
    is_broken_by(line, -32600, "invalid", message).await;
}

#[tokio::test]
async fn a_long_id_is_too_large() {
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{:?},\"method\":\"echo\"}}\n", "i".repeat(257));
    is_broken_by(line.as_bytes(), -32006, "too_large", "\"id\" is longer than 256 bytes").await;
}

#[tokio::test]
async fn half_a_line_and_a_close_are_the_end_of_that_client_only() {
    let server = Running::start();
    let mut neighbour = server.greet().await;
    let mut client = server.greet().await;
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth").await;
    drop(client);
    server.until_gone(2).await;
    neighbour.call(1, "echo", json!({})).await;
}

#[tokio::test]
async fn who_says_no_hello_in_time_is_closed() {
    let short = limits(|limits| limits.handshake = Duration::from_millis(50));
    let server = Running::with(short, Supervisor(None));
    let mut client = server.connect().await;
    client.is_turned_away(-32000, "not_ready", "no hello in time").await;
    assert!(server.script.gone.borrow().is_empty(), "it never was a client");
}

#[tokio::test]
async fn who_says_half_a_hello_is_closed_too() {
    let short = limits(|limits| limits.handshake = Duration::from_millis(50));
    let server = Running::with(short, Supervisor(None));
    let mut client = server.connect().await;
    client.send_raw(b"{\"jsonrpc\":\"2.0\",").await;
    client.is_turned_away(-32000, "not_ready", "no hello in time").await;
}

#[tokio::test]
async fn after_hello_silence_is_allowed() {
    let short = limits(|limits| limits.handshake = Duration::from_millis(500));
    let server = Running::with(short, Supervisor(None));
    let mut client = server.greet().await;
    // A later connection's time is up only after the first one's would have been.
    server.connect().await.is_turned_away(-32000, "not_ready", "no hello in time").await;
    client.call(1, "echo", json!({})).await;
}

#[tokio::test]
async fn a_slow_reader_is_dropped_while_another_connection_goes_on() {
    let short = limits(|limits| limits.stall = Duration::from_millis(50));
    let server = Running::with(short, Supervisor(None));
    let mut neighbour = server.greet().await;
    let mut slow = server.greet().await;
    slow.send(1, "flood", json!({"count": 100, "bytes": 65_536})).await;
    server.until_gone(2).await;
    neighbour.call(1, "echo", json!({})).await;
    assert_eq!(*server.script.gone.borrow(), [2]);
}

#[tokio::test]
async fn who_asks_without_reading_is_dropped() {
    let short = limits(|limits| limits.stall = Duration::from_millis(50));
    let server = Running::with(short, Supervisor(None));
    let mut neighbour = server.greet().await;
    let mut client = server.greet().await;
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no.such\"}\n";
    client.send_while_open(request.repeat(100_000).as_bytes()).await;
    server.until_gone(2).await;
    neighbour.call(1, "echo", json!({})).await;
}

#[tokio::test]
async fn a_flood_of_notifications_to_a_non_reader_keeps_to_its_bytes() {
    let server = Running::start();
    let mut client = server.greet().await;
    // One thread and no await in the flood: nothing is written meanwhile.
    client.send(1, "flood", json!({"count": 1_000, "bytes": 65_536})).await;
    let mut queued = 0;
    loop {
        let message = client.next().await.unwrap();
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["params"]["n"], queued, "in order, and the first ones");
        queued += 1;
    }
    assert_eq!(queued, 63, "of 64 KiB and a little each, 63 fit 4 MiB");
    let told = server.script.flood.lock().unwrap().clone();
    assert_eq!(told.iter().filter(|told| **told == Delivery::Queued).count(), 63);
    assert_eq!(told.len(), 1_000);

    // What was dropped makes room again: later notifications arrive.
    client.send(2, "flood", json!({"count": 1, "bytes": 1})).await;
    let note = client.next().await.unwrap();
    assert_eq!(note, json!({"jsonrpc": "2.0", "method": "noise", "params": {"n": 0, "text": "x"}}));
}

#[tokio::test]
async fn small_notifications_are_bounded_in_number() {
    let server = Running::start();
    let mut client = server.greet().await;
    client.send(1, "flood", json!({"count": 10_000, "bytes": 0})).await;
    let mut queued = 0;
    while client.next().await.unwrap()["id"] != 1 {
        queued += 1;
    }
    assert_eq!(queued, 4096);
}
