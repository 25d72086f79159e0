//! One request and the head of its answer, over connections to the addresses that were judged and to no others: no proxy, no
//! pool, no redirect, no cookies.

use std::sync::Arc;
use std::time::Duration;

use ureq::config::Config;
use ureq::http::{Response, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error};

use crate::fault::PageFault;
use crate::resolve::Judged;
use crate::target::Target;

const USER_AGENT: &str = concat!("brattice/", env!("CARGO_PKG_VERSION"));

const ACCEPT: &str =
    "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.5";

/// What `body` can read.
const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";

/// Most bytes of an answer's head.
const MOST_HEAD: usize = 64 << 10;

/// Answers every question with what was judged.
#[derive(Debug)]
struct Pinned(Judged);

impl Resolver for Pinned {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        for address in self.0.addresses() {
            addresses.push(*address);
        }
        Ok(addresses)
    }
}

/// What is left of the time, and how long it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remaining {
    pub(crate) left: Duration,
    pub(crate) of: Duration,
}

/// Asks for the page.
///
/// # Errors
/// [`PageFault::Late`], [`PageFault::Answer`].
pub(crate) fn ask(
    target: &Target,
    judged: Judged,
    time: Remaining,
) -> Result<Response<Body>, PageFault> {
    let answer = |reason: String| PageFault::Answer { reason };
    let mut config = Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .accept(ACCEPT)
        .accept_encoding(ACCEPT_ENCODING)
        .max_response_header_size(MOST_HEAD)
        .max_idle_connections(0)
        .timeout_global(Some(time.left));
    if target.url().scheme() == "https" {
        config = config.tls_config(tls()?);
    }
    let agent = Agent::with_parts(config.build(), DefaultConnector::default(), Pinned(judged));
    agent.get(target.as_str()).call().map_err(|error| match error {
        Error::Timeout(_) => PageFault::Late { seconds: time.of.as_secs() },
        other => answer(words(&other)),
    })
}

/// The machine's own trust, where `SSL_CERT_FILE` and `SSL_CERT_DIR` name no other: what its administrators put there counts.
fn tls() -> Result<TlsConfig, PageFault> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(PageFault::Answer { reason: without_authorities(found.errors.first()) });
    }
    let certs: Vec<_> =
        found.certs.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(certs)))
        .build())
}

fn without_authorities(fault: Option<&impl std::fmt::Display>) -> String {
    let reason =
        "there are no certificates of authorities (/etc/ssl/certs, or as SSL_CERT_FILE says)";
    fault.map_or_else(|| reason.to_owned(), |fault| format!("{reason}: {fault}"))
}

/// A header's value as text.
pub(crate) fn header(answer: &Response<Body>, name: header::HeaderName) -> Option<String> {
    let value = answer.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

fn words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        let text = deeper.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        source = deeper.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::resolve::resolve;
    use crate::target::Allowance;

    #[test]
    fn a_server_that_says_nothing_is_told_with_the_whole_time_that_it_had() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let silent = thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            // Until the other side hangs up.
            peer.read_to_end(&mut Vec::new()).ok();
        });
        let target = Target::parse(&format!("http://{host}/")).unwrap();
        let judged = resolve(&target, &Allowance::new(vec![host]), Instant::now()).unwrap();
        let time = Remaining { left: Duration::from_millis(300), of: Duration::from_secs(20) };
        let fault = ask(&target, judged, time).unwrap_err();
        assert_eq!(fault, PageFault::Late { seconds: 20 });
        silent.join().unwrap();
    }

    #[test]
    fn why_there_are_no_authorities_is_told() {
        let none =
            "there are no certificates of authorities (/etc/ssl/certs, or as SSL_CERT_FILE says)";
        assert_eq!(without_authorities(None::<&String>), none);
        assert_eq!(without_authorities(Some(&"denied")), format!("{none}: denied"));
    }
}
