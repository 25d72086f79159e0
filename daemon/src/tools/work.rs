//! What the tools for files and searches share: asking the session's worker, and the answers of calls that came to nothing.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::Mode;
use brattice_protocol::RpcError;

use super::bash::turned_away;
use super::call::{Answer, Keeping};
use crate::approval::Permit;
use crate::fault::chain;
use crate::files::{Answer as Answered, Barrier, Request};
pub(super) use crate::session::Refused as Denied;
use crate::session::{FilesError, RunningCall, Session, StartError};
use crate::toolset::render::{DeniedText, Escalation, Facts, capped, render_refused};

/// What is said where the worker answers what it was not asked, or fails in itself.
const BROKEN: &str = "the process that works on files failed; whether a change was made is not known: read the file again";

/// What is said where a change was asked for and its answer did not come.
const UNKNOWN: &str = "whether the change was made is not known: read the file again";

/// Bytes of a text beyond which it is cut: with what is said beside it, it stays below what a result may have.
const MOST_TEXT: usize = 208 * 1024;

/// A text that a result may have. What is cut is said; the closing lines of a denial are added after it.
pub(super) fn bounded(mut text: String) -> String {
    let mut end = MOST_TEXT;
    if text.len() <= end {
        return text;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let omitted = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n[truncated: {omitted} bytes omitted]"));
    text
}

/// One call, in the mode that the session had when it came.
pub(super) struct Work<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) call: &'a RunningCall,
    pub(super) mode: Mode,
}

impl<'a> Work<'a> {
    pub(super) fn new(session: &'a Arc<Session>, call: &'a RunningCall) -> Self {
        Work { session, call, mode: session.profile().mode }
    }

    /// A path of the arguments as an absolute one.
    pub(super) fn path(&self, named: &str) -> PathBuf {
        self.session.working_directory(Some(named))
    }

    /// Has the worker do something. A call that is withdrawn, or a session that ends, gives it up.
    pub(super) async fn ask(&self, request: Request) -> Result<Answered, Answer> {
        let changes = !request.only_reads();
        self.answer(changes, self.session.on_files(self.mode, request)).await
    }

    /// Has the worker of the mode that a person allowed do what they allowed.
    pub(super) async fn ask_permitted(
        &self,
        allowed: (Permit, Mode),
        request: Request,
    ) -> Result<Answered, Answer> {
        let (changes, call) = (!request.only_reads(), self.call.id());
        self.answer(changes, self.session.on_files_permitted(allowed, request, call)).await
    }

    async fn answer(
        &self,
        changes: bool,
        answer: impl Future<Output = Result<Answered, FilesError>>,
    ) -> Result<Answered, Answer> {
        let asked = tokio::select! {
            biased;
            answered = answer => answered,
            () = self.call.cancelled() => return Err(self.cancelled(changes)),
            // The worker is left to it: what is asked for may be done by now.
            reason = self.session.refusing(), if changes => {
                return Err(self.refused(&format!("{reason}; {UNKNOWN}")));
            }
            reason = self.session.refusing() => Err(FilesError::Start(reason)),
        };
        match asked {
            Ok(Answered::Broken) => Err(self.broken()),
            Ok(answered) => Ok(answered),
            Err(FilesError::Start(reason)) => Err(self.turned_away(&reason)),
            Err(error @ FilesError::Gone(_)) if changes => {
                Err(self.refused(&format!("{}; {UNKNOWN}", chain(&error))))
            }
            Err(error) => Err(self.refused(&chain(&error))),
        }
    }

    fn cancelled(&self, changes: bool) -> Answer {
        match changes {
            true => self.refused(&format!("[cancelled]\n{UNKNOWN}")),
            false => self.refused("[cancelled]"),
        }
    }

    fn turned_away(&self, reason: &StartError) -> Answer {
        Answer::turned_away(self.session.toolset().error(&turned_away(RpcError::from(reason))))
    }

    /// What the worker cannot have meant.
    pub(super) fn broken(&self) -> Answer {
        self.refused(BROKEN)
    }

    /// Nothing was done, for this reason.
    pub(super) fn refused(&self, text: &str) -> Answer {
        Answer::refused(self.words(text))
    }

    /// A text that is flagged, as long as it may be.
    fn words(&self, text: &str) -> String {
        let text = self.session.toolset().error(&bounded(text.to_owned()));
        capped(self.session.tools().cap(), text)
    }

    /// A file that could not be read because it is hidden.
    pub(super) fn hidden(&self, path: &Path, text: &str) -> Option<Answer> {
        let line = format!("[sandbox: file access denied under {} mode]", self.mode);
        let is_hidden = self.mode.is_confined() && self.session.hides(self.mode, path);
        is_hidden.then(|| Answer::refused(format!("{}\n{line}", self.words(text))))
    }

    /// Whether it was the sandbox that refused it.
    pub(super) fn is_denied(&self, mode: Mode, barrier: Barrier, denied: Denied<'_>) -> bool {
        mode.is_confined()
            && match barrier {
                Barrier::Ordinary => false,
                Barrier::Sandbox => true,
                Barrier::ReadOnly => self.session.keeps(mode, denied),
            }
    }

    /// Nothing was done, for this reason; where it was the sandbox, that is put on record and said.
    pub(super) fn refused_by(
        &self,
        text: &str,
        mode: Mode,
        barrier: Barrier,
        denied: Denied<'_>,
    ) -> Answer {
        if !self.is_denied(mode, barrier, denied) {
            return self.refused(text);
        }
        let denials = self.session.note_call_denial(self.call.id(), mode, denied);
        let denied = DeniedText {
            mode,
            records: &denials.records,
            unlisted: 0,
            escalation: self.session.escalation(mode, &denials, Escalation::Repeat),
        };
        let (toolset, layers) = (self.session.toolset(), self.session.layers_of(mode));
        let words = self.words(text);
        let output_bytes = words.len();
        let said = render_refused(toolset, words, &denied, (mode, &layers));
        let facts = Some(Facts::Refused(Box::new(said.facts)));
        Answer { text: said.text, output_bytes, is_error: true, facts, kept: Keeping::Kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_the_cut_is_said() {
        assert_eq!(bounded("x".repeat(MOST_TEXT)), "x".repeat(MOST_TEXT));
        let long = format!("x{}", "é".repeat(MOST_TEXT / 2));
        let kept = format!("x{}", "é".repeat(MOST_TEXT / 2 - 1));
        assert_eq!(bounded(long), format!("{kept}\n[truncated: 2 bytes omitted]"));
    }
}
