//! A line of the log and the chain that it is a link of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Digest, Event};

/// A line of the log. An event that a newer daemon wrote is no [`Event`] here; its [`Header`] can be read all the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<E = Event> {
    /// Its number in the log, from 1; files do not begin anew.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970 by the machine's clock.
    pub time: u64,
    /// The SHA-256 of the line before, its newline included; [`Digest::NONE`] in the first line of all.
    pub prev: Digest,
    /// What happened.
    #[serde(flatten)]
    pub event: E,
}

/// What every line has, whatever it tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// As in [`Line`].
    pub seq: u64,
    /// As in [`Line`].
    pub time: u64,
    /// As in [`Line`].
    pub prev: Digest,
    /// The event's name.
    pub event: String,
}

/// The end of a chain: the number of its last line and that line's SHA-256. Whoever notes it elsewhere can tell later
/// whether that line, and with it all before it, is still what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The line's number.
    pub seq: u64,
    /// Its SHA-256, its newline included.
    pub sha256: Digest,
}

impl Head {
    /// Where a log begins, before its first line.
    pub const START: Head = Head { seq: 0, sha256: Digest::NONE };

    /// The next line of the chain, with its newline, appended to `lines`. Gives the chain's new end.
    ///
    /// # Errors
    /// The event has no JSON form. Nothing that a request can hold is such.
    pub fn append(
        self,
        lines: &mut Vec<u8>,
        time: u64,
        event: &Event,
    ) -> Result<Head, serde_json::Error> {
        let begin = lines.len();
        let line = Line { seq: self.seq + 1, time, prev: self.sha256, event };
        serde_json::to_writer(&mut *lines, &line)?;
        lines.push(b'\n');
        Ok(Head { seq: line.seq, sha256: Digest::of(&lines[begin..]) })
    }
}

/// A text that is no end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a line's number, a colon and the 64 hexadecimal digits of its SHA-256")]
pub struct BadHead;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.sha256)
    }
}

impl FromStr for Head {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, BadHead> {
        let (seq, sha256) = text.split_once(':').ok_or(BadHead)?;
        let seq = seq.parse().map_err(|_| BadHead)?;
        Ok(Head { seq, sha256: sha256.parse().map_err(|_| BadHead)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::DaemonEnd;

    #[test]
    fn an_end_survives_its_text() {
        let head = Head { seq: 7, sha256: Digest::of(b"abc") };
        assert_eq!(head.to_string().parse(), Ok(head));
        for text in ["", "7", "7:", "x:00", &format!("-1:{}", Digest::NONE)] {
            assert_eq!(text.parse::<Head>(), Err(BadHead), "{text}");
        }
    }

    #[test]
    fn a_line_holds_the_digest_of_the_line_before() {
        let mut lines = Vec::new();
        let stopped = Event::DaemonStopped { end: DaemonEnd::InOrder };
        let first = Head::START.append(&mut lines, 7, &stopped).unwrap();
        let begin = lines.len();
        let second = first.append(&mut lines, 8, &stopped).unwrap();
        let zeros = "0".repeat(64);
        assert_eq!(
            String::from_utf8(lines.clone()).unwrap(),
            format!(
                "{{\"seq\":1,\"time\":7,\"prev\":\"{zeros}\",\"event\":\"daemon_stopped\",\"end\":\"in_order\"}}\n\
                 {{\"seq\":2,\"time\":8,\"prev\":\"{}\",\"event\":\"daemon_stopped\",\"end\":\"in_order\"}}\n",
                Digest::of(&lines[..begin])
            )
        );
        assert_eq!(second, Head { seq: 2, sha256: Digest::of(&lines[begin..]) });
        let read: Line = serde_json::from_slice(&lines[begin..]).unwrap();
        assert_eq!(read, Line { seq: 2, time: 8, prev: first.sha256, event: stopped });
    }
}
