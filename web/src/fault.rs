//! Why a page could not be had. Faults cross a process, so they are values without sources; what the network or a library said stands in
//! them as words.

use serde::{Deserialize, Serialize};

use crate::address::Reserved;

/// Why a URL is not asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum UrlFault {
    /// It has no scheme.
    #[error("not an absolute URL: write it with http:// or https://")]
    Relative,
    /// It is none.
    #[error("not a URL: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// Of another kind.
    #[error("{scheme}: URLs are not fetched: only http and https are")]
    Scheme {
        /// Its scheme.
        scheme: String,
    },
    /// It would log in.
    #[error("a URL with a user name or password is not fetched")]
    Credentials,
    /// It names no host.
    #[error("the URL names no host")]
    NoHost,
    /// It is too long.
    #[error("the URL is longer than {longest} bytes")]
    Long {
        /// The most.
        longest: usize,
    },
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum PageFault {
    /// The URL is not asked for.
    #[error("{0}")]
    Url(UrlFault),
    /// It leads where only this machine or its network may go.
    #[error(
        "refused: {host} leads to {address}, {why}; the operator or user can allow {host} by web_allow"
    )]
    Refused {
        /// Host and port.
        host: String,
        /// The address.
        address: std::net::IpAddr,
        /// What it is.
        why: Reserved,
    },
    /// A redirect that is refused.
    #[error("the redirect from {from} to {to} is not followed: {fault}")]
    Hop {
        /// Where it was answered.
        from: String,
        /// Where it leads.
        to: String,
        /// Why not.
        fault: Box<PageFault>,
    },
    /// A redirect to another host, which is told and not followed.
    #[error("redirected ({status}) to another host, which is not followed: to go on, fetch {to}")]
    Elsewhere {
        /// The status.
        status: u16,
        /// Where it leads.
        to: String,
    },
    /// A redirect that says nothing.
    #[error("the answer is a redirect ({status}) without a Location")]
    Nowhere {
        /// The status.
        status: u16,
    },
    /// Too many of them.
    #[error("redirect limit: more than {most} redirects in a row")]
    Hops {
        /// The most.
        most: usize,
    },
    /// No address.
    #[error("the name {host} could not be resolved: {reason}")]
    Name {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// No answer, or none that is HTTP.
    #[error("no answer: {reason}")]
    Answer {
        /// What was said.
        reason: String,
    },
    /// The time was over before anything had come.
    #[error("no answer within {seconds} s")]
    Late {
        /// How long.
        seconds: u64,
    },
    /// An answer that is an error.
    #[error("the server answered {status} {}", reason_phrase(*status))]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it said.
        text: String,
    },
    /// It is compressed in a way that was not asked for.
    #[error("the body's encoding {encoding} is not known")]
    Encoding {
        /// The encoding.
        encoding: String,
    },
    /// The body is not what it claims to be, from its beginning.
    #[error("the body cannot be read: {reason}")]
    Body {
        /// Why.
        reason: String,
    },
}

fn reason_phrase(status: u16) -> &'static str {
    let status = ureq::http::StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("(no name)")
}
