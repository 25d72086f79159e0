//! The result of a tool call, as tests look at it.

use brattice_protocol::outcome::{Cause, CommandOutcome};
use brattice_protocol::tools::CallResult;

/// A tool's result.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The result as it came.
    pub result: CallResult,
    /// `structuredContent` of a command; `None` where nothing was even tried, and of another tool.
    pub outcome: Option<CommandOutcome>,
}

impl Reply {
    pub(crate) fn new(result: CallResult) -> Reply {
        let content = result.structured_content.clone();
        // Only a command's facts have a cause.
        let outcome = content
            .get("cause")
            .is_some()
            .then(|| serde_json::from_value(content).expect("it is a command's outcome"));
        Reply { result, outcome }
    }

    /// The text, without the line end after its last line.
    pub fn text(&self) -> String {
        self.result.text().trim_end_matches('\n').to_owned()
    }

    /// What the program printed: the text without what is said of its denials.
    pub fn printed(&self) -> String {
        let text = self.text();
        text.split("[sandbox: ").next().unwrap_or_default().trim_end_matches('\n').to_owned()
    }

    /// The text's lines.
    pub fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }

    /// Whether the call failed as a call.
    pub fn is_error(&self) -> bool {
        self.result.is_error
    }

    /// The facts.
    ///
    /// # Panics
    /// Where there are none.
    #[track_caller]
    pub fn outcome(&self) -> &CommandOutcome {
        self.outcome.as_ref().unwrap_or_else(|| panic!("no outcome in {:#?}", self.result))
    }

    /// The shell's exit code.
    ///
    /// # Panics
    /// Where there is no outcome.
    #[track_caller]
    pub fn code(&self) -> Option<i32> {
        self.outcome().exit_code
    }

    /// Why the command ended.
    ///
    /// # Panics
    /// Where there is no outcome.
    #[track_caller]
    pub fn cause(&self) -> Cause {
        self.outcome().cause
    }

    /// How it ended, short, for messages of failed assertions.
    fn end(&self) -> String {
        let Some(outcome) = &self.outcome else {
            return "nothing ran".to_owned();
        };
        let CommandOutcome {
            cause, exit_code, signal, reason, stdout, stderr, left_running, ..
        } = outcome;
        format!(
            "{cause:?}, {exit_code:?}, {signal:?}, {reason:?}, {stdout:?}, {stderr:?}, {left_running:?}"
        )
    }

    /// Asserts the whole text, which says nothing but this.
    ///
    /// # Panics
    /// When the text is another.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Reply {
        assert_eq!(self.text(), text, "{}", self.end());
        self
    }

    /// Asserts all that the program printed, whatever is said of its denials.
    ///
    /// # Panics
    /// When it printed something else.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Reply {
        assert_eq!(self.printed(), text, "{}", self.end());
        self
    }

    /// Asserts that the text holds a piece.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn holds(&self, piece: &str) -> &Reply {
        assert!(self.text().contains(piece), "no {piece:?} in {:?}: {}", self.text(), self.end());
        self
    }

    /// Asserts that the text does not hold a piece.
    ///
    /// # Panics
    /// When it does.
    #[track_caller]
    pub fn lacks(&self, piece: &str) -> &Reply {
        assert!(!self.text().contains(piece), "{piece:?} in {:?}: {}", self.text(), self.end());
        self
    }

    /// Asserts that the shell exited by itself with this code.
    ///
    /// # Panics
    /// When it ended otherwise.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Reply {
        let outcome = self.outcome();
        assert_eq!(
            (outcome.cause, outcome.exit_code),
            (Cause::Exited, Some(code)),
            "{:?}: {}",
            self.text(),
            self.end()
        );
        assert!(!self.is_error(), "an exit code is no failed call: {:?}", self.text());
        self
    }

    /// Asserts that the command ran to exit code 0, and that the sandbox refused it nothing that it would miss.
    ///
    /// # Panics
    /// When it did not, or something is on record.
    #[track_caller]
    pub fn undenied(&self) -> &Reply {
        let outcome = self.exits(0).outcome();
        assert_eq!((&outcome.denials, outcome.denials_total), (&Vec::new(), Some(0)), "{self:#?}");
        self
    }

    /// Asserts that the call failed and that nothing ran.
    ///
    /// # Panics
    /// When something ran.
    #[track_caller]
    pub fn is_refused(&self) -> &Reply {
        assert!(self.is_error(), "{:?}", self.text());
        let never_ran = [Cause::FailedToStart, Cause::Rejected];
        let ran = self.outcome.as_ref().filter(|outcome| !never_ran.contains(&outcome.cause));
        assert_eq!(ran, None, "{:?}", self.text());
        self
    }
}
