//! Pages from a server on this machine that says what a test has it say, and redirects that are judged and not followed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use super::*;
use crate::address::Reserved;
use crate::page::Times;

/// Fetches what a server answers, head and body, to the one request that it hears.
fn fetched(answer: &[u8]) -> Result<Page, PageFault> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let answer = answer.to_vec();
    let server = thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let (mut asked, mut piece) = (Vec::new(), [0; 4096]);
        while !asked.ends_with(b"\r\n\r\n") {
            let count = peer.read(&mut piece).unwrap();
            asked.extend_from_slice(&piece[..count]);
        }
        // Who has had enough hangs up.
        peer.write_all(&answer).ok();
    });
    let page = fetch(&PageRequest {
        url: format!("http://{host}/"),
        allowed: Allowance::new(vec![host]),
        times: Times { body: Duration::from_secs(20) },
        most_bytes: 1 << 20,
        most_text: 1000,
    });
    server.join().unwrap();
    page
}

#[test]
fn a_server_that_says_nothing_is_told_with_the_time_that_a_page_has() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let page = fetch(&PageRequest {
        url: format!("http://{host}/"),
        allowed: Allowance::new(vec![host]),
        times: Times { body: Duration::from_secs(1) },
        most_bytes: 1000,
        most_text: 1000,
    });
    assert_eq!(page, Err(PageFault::Late { seconds: 1 }));
}

fn status(status: u16, text: &str) -> PageFault {
    PageFault::Status { status, text: text.to_owned() }
}

#[test]
fn a_status_is_told_whatever_its_body_is() {
    let gone = |rest: &str| {
        fetched(format!("HTTP/1.1 404 Gone\r\nConnection: close\r\n{rest}").as_bytes())
    };
    assert_eq!(gone("Content-Length: 4\r\n\r\nwhy?"), Err(status(404, "why?")));
    for (head, body) in [
        ("Content-Encoding: gzip", ""),
        ("Content-Encoding: gzip", "no gzip"),
        ("Content-Encoding: zstd", "no zstd"),
        ("Content-Encoding: unheard-of", "text"),
        ("Content-Encoding: br\r\nContent-Length: 9", ""),
    ] {
        assert_eq!(gone(&format!("{head}\r\n\r\n{body}")), Err(status(404, "")), "{head} {body}");
    }
}

#[test]
fn a_success_without_a_body_is_an_empty_page_whatever_its_encoding() {
    for (line, encoding) in [("200 OK", "gzip"), ("200 OK", "br"), ("204 No Content", "deflate")] {
        let answer =
            format!("HTTP/1.1 {line}\r\nConnection: close\r\nContent-Encoding: {encoding}\r\n\r\n");
        let page = fetched(answer.as_bytes()).unwrap();
        assert_eq!((page.bytes, page.text.as_str(), page.notes), (0, "", Vec::new()), "{line}");
    }
}

#[test]
fn what_is_told_beside_the_text_is_bounded() {
    let (kind, title) = ("x".repeat(20_000), "tä".repeat(20_000));
    let page = fetched(
        format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html; {kind}; charset=utf-8\r\n\r\n\
             <title>{title}</title><p>text"
        )
        .as_bytes(),
    )
    .unwrap();
    assert_eq!(page.charset.as_deref(), Some("UTF-8"));
    assert_eq!(page.media_type.map(|kind| kind.len()), Some(MOST_MEDIA_TYPE));
    assert_eq!(page.title.map(|title| title.len()), Some(MOST_TITLE - 1));
}

/// Where an answer from `a.example` leads.
fn led(location: &str, allowed: &[&str]) -> Result<String, PageFault> {
    let from = Target::parse("http://a.example/x").unwrap();
    let allowed = Allowance::new(allowed.iter().map(|pair| (*pair).to_owned()).collect());
    next(&from, location, 302, &allowed).map(|to| to.as_str().to_owned())
}

#[test]
fn a_redirect_to_an_address_is_judged_by_what_the_session_allows() {
    let to = "http://127.0.0.1:8080/y";
    let refused = PageFault::Hop {
        from: "http://a.example/x".to_owned(),
        to: to.to_owned(),
        fault: Box::new(PageFault::Refused {
            host: "127.0.0.1:8080".to_owned(),
            address: "127.0.0.1".parse().unwrap(),
            why: Reserved::Loopback,
        }),
    };
    assert_eq!(led(to, &[]), Err(refused.clone()));
    assert_eq!(led(to, &["127.0.0.1:80", "a.example:80"]), Err(refused));
    let elsewhere = PageFault::Elsewhere { status: 302, to: to.to_owned() };
    assert_eq!(led(to, &["127.0.0.1:8080"]), Err(elsewhere));
    assert_eq!(led("/z", &[]), Ok("http://a.example/z".to_owned()));
}

#[test]
fn a_location_that_is_too_long_is_refused_and_its_beginning_told() {
    let long = format!("http://b.example/{}", "y".repeat(60_000));
    let Err(PageFault::Hop { to, fault, .. }) = led(&long, &[]) else { panic!("it is followed") };
    assert_eq!((to.len(), to.starts_with("http://b.example/yy")), (MOST_LOCATION, true));
    assert!(matches!(*fault, PageFault::Url(UrlFault::Long { .. })), "{fault}");
}
