//! Whether a log is what was written: every line's number and its hold on the line before, over all files.
//!
//! What can be found: any byte of any line but the last that was changed, lines that were removed, doubled, swapped or
//! put in, files that are missing at the beginning or in the middle, bytes that no line accounts for. A change of the last
//! line and lines missing at the end are found by a [`Head`] that somebody noted after they were written; a log that
//! was written anew as a whole, likewise.

use super::{Digest, Event, FileNumber, Head, Header, Line, Place, TornTail};

/// A log in which nothing was changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// The number of its first line; greater than 1 where files were removed for their age, 0 where it has no line.
    pub first: u64,
    /// Its end; none where it has no line.
    pub head: Option<Head>,
    /// Its lines that tell of the log itself, with their places.
    pub about: Vec<(Place, Line)>,
    /// Bytes at the very end that are no whole line: one that is just being written, or that a crash cut off and no daemon
    /// has accounted for yet.
    pub unfinished: u64,
}

/// The first place at which a log is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Break {
    /// The place. With a [`Fault::Link`] the change is there or in the line before.
    pub place: Place,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is no line of a log.
    #[error("this is no line of the log: {reason}")]
    NotALine {
        /// What the parser says.
        reason: String,
    },
    /// Its number does not follow.
    #[error(
        "this line has number {found} where {expected} must stand: lines are missing, doubled or not in order"
    )]
    Number {
        /// The number that must stand here.
        expected: u64,
        /// What stands here.
        found: u64,
    },
    /// It holds on to another line than the one before it.
    #[error(
        "this line holds the hash {told} of the line before, whose hash is {found}: one of the two was changed"
    )]
    Link {
        /// The hash that it holds.
        told: Digest,
        /// That of the line before.
        found: Digest,
    },
    /// A file ends within a line, and the next one says nothing of it.
    #[error(
        "the file ends with {bytes} bytes of a line, and the line after does not account for them"
    )]
    Torn {
        /// How long the part is.
        bytes: u64,
    },
    /// It accounts for parts of lines that are not there.
    #[error("this line accounts for bytes of a line that are not there")]
    NoSuchTail,
    /// The log begins too late.
    #[error(
        "the log begins with line {first}, and no line says that those before it were removed for their age"
    )]
    Beginning {
        /// The number of the first line.
        first: u64,
    },
    /// A line that was noted is another one.
    #[error(
        "line {seq} was noted with another hash than it has, {found}: it, or a line before it, was changed"
    )]
    Noted {
        /// The line's number.
        seq: u64,
        /// The hash that it has.
        found: Digest,
    },
    /// A line that was noted is not there.
    #[error("line {seq} was noted and is missing: the log ends with line {last}")]
    Missing {
        /// The line's number.
        seq: u64,
        /// The number of the last line.
        last: u64,
    },
    /// A line that was noted was removed for its age.
    #[error("line {seq} was noted, and the log begins with line {first} by now: note a newer one")]
    TooOld {
        /// The line's number.
        seq: u64,
        /// The number of the first line.
        first: u64,
    },
}

/// Goes through a log's lines, each with its newline where it has one, in the order of the files. `noted` is an end of the
/// log that somebody kept from an earlier look.
///
/// # Errors
/// The first error of `lines`. That the log was changed is no error but the answer.
pub fn verify<E>(
    lines: impl IntoIterator<Item = Result<(Place, Vec<u8>), E>>,
    noted: Option<Head>,
) -> Result<Result<Verified, Break>, E> {
    let mut chain = Chain { noted, ..Chain::default() };
    for line in lines {
        let (place, bytes) = line?;
        if let Err(fault) = chain.take(place, &bytes) {
            return Ok(Err(fault));
        }
    }
    Ok(chain.finish())
}

/// What is known of the lines so far.
#[derive(Debug, Default)]
struct Chain {
    noted: Option<Head>,
    verified: Verified,
    first: Option<First>,
    last: Option<Place>,
    /// Parts of lines that no line has accounted for yet.
    tails: Vec<(Place, TornTail)>,
}

/// The first line.
#[derive(Debug)]
struct First {
    place: Place,
    /// The end of what was before it.
    before: Head,
    is_accounted_for: bool,
}

impl Chain {
    fn take(&mut self, place: Place, bytes: &[u8]) -> Result<(), Break> {
        let Some(text) = bytes.strip_suffix(b"\n") else {
            let (bytes, sha256) = (bytes.len() as u64, Digest::of(bytes));
            self.tails.push((place, TornTail { file: place.file, bytes, sha256 }));
            return Ok(());
        };
        let at = |fault| Break { place, fault };
        let unread = |error: serde_json::Error| at(Fault::NotALine { reason: error.to_string() });
        let header: Header = serde_json::from_slice(text).map_err(unread)?;
        let about: Option<Line> = match header.event.as_str() {
            "gap" | "recovered" | "pruned" | "log_changed" => {
                Some(serde_json::from_slice(text).map_err(unread)?)
            }
            _ => None,
        };
        let event = about.as_ref().map(|line| &line.event);
        self.settle_tails(place, event)?;
        self.follow(place, &header)?;
        self.note_pruned(event);
        let head = Head { seq: header.seq, sha256: Digest::of(bytes) };
        if let Some(noted) = self.noted
            && noted.seq == head.seq
            && noted.sha256 != head.sha256
        {
            return Err(at(Fault::Noted { seq: head.seq, found: head.sha256 }));
        }
        self.verified.about.extend(about.map(|line| (place, line)));
        self.verified.head = Some(head);
        self.last = Some(place);
        Ok(())
    }

    /// The line's number, and its hold on the one before.
    fn follow(&mut self, place: Place, header: &Header) -> Result<(), Break> {
        let (found, told) = (header.seq, header.prev);
        let fault = match (self.verified.head, found.checked_sub(1)) {
            (Some(head), _) if found != head.seq + 1 => {
                Fault::Number { expected: head.seq + 1, found }
            }
            (Some(head), _) if told != head.sha256 => Fault::Link { told, found: head.sha256 },
            (Some(_), _) => return Ok(()),
            (None, None) => Fault::Number { expected: 1, found },
            (None, Some(0)) if told != Digest::NONE => Fault::Link { told, found: Digest::NONE },
            (None, Some(seq)) => {
                let before = Head { seq, sha256: told };
                self.first = Some(First { place, before, is_accounted_for: seq == 0 });
                self.verified.first = found;
                return Ok(());
            }
        };
        Err(Break { place, fault })
    }

    /// Parts of lines before this line: it must account for them, and for no others.
    fn settle_tails(&mut self, place: Place, about: Option<&Event>) -> Result<(), Break> {
        if let Some(Event::Recovered { tails: told }) = about {
            let found: Vec<TornTail> = self.tails.iter().map(|(_, tail)| *tail).collect();
            // The first line of all may speak of files that were removed since.
            let is_first = self.verified.head.is_none();
            if told != &found && !(is_first && told.ends_with(&found)) {
                return Err(Break { place, fault: Fault::NoSuchTail });
            }
            self.tails.clear();
        }
        match self.tails.first() {
            Some((place, tail)) => {
                Err(Break { place: *place, fault: Fault::Torn { bytes: tail.bytes } })
            }
            None => Ok(()),
        }
    }

    /// Files that were removed for their age may be those before the first line.
    fn note_pruned(&mut self, about: Option<&Event>) {
        if let (Some(Event::Pruned { through, sha256, .. }), Some(first)) = (about, &mut self.first)
        {
            first.is_accounted_for |= first.before == Head { seq: *through, sha256: *sha256 };
        }
    }

    fn finish(mut self) -> Result<Verified, Break> {
        self.verified.unfinished = self.tails.iter().map(|(_, tail)| tail.bytes).sum();
        let first = self.verified.first;
        let before = match &self.first {
            Some(First { place, is_accounted_for: false, .. }) => {
                return Err(Break { place: *place, fault: Fault::Beginning { first } });
            }
            Some(found) => found.before,
            None => Head::START,
        };
        let end = self.verified.head.unwrap_or(Head::START);
        let fault = match self.noted {
            Some(Head { seq, .. }) if seq > end.seq => Fault::Missing { seq, last: end.seq },
            Some(Head { seq, .. }) if seq < before.seq => Fault::TooOld { seq, first },
            Some(Head { seq, sha256 }) if seq == before.seq && sha256 != before.sha256 => {
                Fault::Noted { seq, found: before.sha256 }
            }
            _ => return Ok(self.verified),
        };
        let place = self.last.unwrap_or(Place { file: FileNumber::FIRST, line: 0 });
        Err(Break { place, fault })
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
