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

/// Asks for the page.
///
/// # Errors
/// [`PageFault::Late`], [`PageFault::Answer`].
pub(crate) fn ask(
    target: &Target,
    judged: Judged,
    left: Duration,
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
        .timeout_global(Some(left));
    if target.url().scheme() == "https" {
        config = config.tls_config(tls()?);
    }
    let agent = Agent::with_parts(config.build(), DefaultConnector::default(), Pinned(judged));
    agent.get(target.as_str()).call().map_err(|error| match error {
        Error::Timeout(_) => PageFault::Late { seconds: left.as_secs() },
        other => answer(words(&other)),
    })
}

/// The machine's own trust: what its administrators put there counts.
fn tls() -> Result<TlsConfig, PageFault> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reason = "this machine has no certificates of authorities (/etc/ssl/certs)".to_owned();
        return Err(PageFault::Answer { reason });
    }
    let certs: Vec<_> =
        found.certs.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(certs)))
        .build())
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
