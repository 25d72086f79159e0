//! Asking the person at the terminal about a call that this program made itself: approvals, and by `question` what the model asks.
//!
//! What was typed before the question was shown is thrown away: a yes must not be older than what it is to. A question that
//! somebody else settles meanwhile is given up.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::os::fd::AsFd;

use brattice_client::{ApprovalQuestion, Approvals, Client, Notice, Notifications, Questions};
use brattice_protocol::approval::{ApprovalAnswer, ApprovalChoice, ApprovalSettled};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::oneshot;

use super::words::{question, settled};
use crate::cli::context::{Asker, print};
use crate::cli::duration::now;
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};
use crate::commands::question;

/// Whether a person can be asked here: input and output are a terminal, and are not for programs.
pub(crate) fn asker(context: &Context) -> Asker {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    match context.format {
        Format::Text if is_terminal => Asker::Person,
        Format::Text | Format::Json => Asker::Nobody,
    }
}

/// The questions about a client's own calls, put to a person one after the other.
pub(crate) struct Prompt {
    questions: Option<Approvals>,
    inquiries: Option<Questions>,
    notices: Notifications,
}

impl Prompt {
    /// Of a client that declared that it answers; one that did not is asked nothing.
    pub(crate) fn of(client: &Client) -> Prompt {
        let (questions, inquiries) = (client.approvals(), client.questions());
        Prompt { questions, inquiries, notices: client.notifications() }
    }

    /// Puts question after question, for as long as it is polled.
    pub(crate) async fn run(&mut self) -> Failure {
        loop {
            let Prompt { questions, inquiries, notices } = self;
            let put = tokio::select! {
                Some(asked) = next(questions, Approvals::next) => self.put(asked).await,
                Some(inquiry) = next(inquiries, Questions::next) => question::put(inquiry, notices).await,
                else => return std::future::pending().await,
            };
            if let Err(failure) = put {
                return failure;
            }
        }
    }

    async fn put(&mut self, asked: ApprovalQuestion) -> Result<(), Failure> {
        let offers_session = asked.request.offers(ApprovalChoice::AllowAlways);
        let choices = if offers_session { "y once, a for this session, N" } else { "y/N" };
        let style = Style::of_stdout();
        // Before the question is shown: a yes must not be older than what it is to.
        if let Err(errno) = clear_input(io::stdin()) {
            asked.answer(&ApprovalAnswer::Cancelled).await;
            return print(format!(
                "nobody can be asked here: the terminal's input cannot be cleared: {errno}\n"
            ));
        }
        print(format!("{}Allow? [{choices}] ", question(&asked.request, style, now())))?;
        let typed = read_line();
        let answered = tokio::select! {
            typed = typed => typed.unwrap_or_default(),
            told = elsewhere(&mut self.notices, &asked) => {
                return print(format!("\n{}", settled(&told, style)));
            }
        };
        asked.answer(&read(&answered, offers_session)).await;
        Ok(())
    }
}

/// What a line means. Only a plain yes allows; an end of input is no answer.
fn read(line: &str, offers_session: bool) -> ApprovalAnswer {
    let option = match line.trim() {
        "y" | "Y" | "yes" => ApprovalChoice::AllowOnce,
        "a" | "A" if offers_session => ApprovalChoice::AllowAlways,
        _ if line.is_empty() => return ApprovalAnswer::Cancelled,
        _ => ApprovalChoice::RejectOnce,
    };
    ApprovalAnswer::Selected { option, reason: None }
}

/// The next of what may not be asked at all.
async fn next<Q, T>(
    asked: &mut Option<Q>,
    take: impl AsyncFnOnce(&mut Q) -> Option<T>,
) -> Option<T> {
    match asked {
        Some(asked) => take(asked).await,
        None => None,
    }
}

/// Throws away what was typed so far.
pub(in crate::commands) fn clear_input(terminal: impl AsFd) -> Result<(), Errno> {
    tcflush(terminal, QueueSelector::IFlush)
}

/// A line that is typed from now on. A read cannot be called off, so its thread ends with the line, or with the program.
pub(in crate::commands) fn read_line() -> oneshot::Receiver<String> {
    let (sender, line) = oneshot::channel();
    std::thread::spawn(move || {
        let stdin = io::stdin();
        let mut line = String::new();
        if stdin.lock().read_line(&mut line).is_ok() {
            // Somebody else may have settled it.
            sender.send(line).ok();
        }
    });
    line
}

/// Returns once somebody else has settled the question.
async fn elsewhere(notices: &mut Notifications, asked: &ApprovalQuestion) -> ApprovalSettled {
    loop {
        match notices.next().await {
            Some(Notice::ApprovalSettled(told)) if told.id == asked.request.id => return told,
            Some(_) => {}
            None => return std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_allows() {
        let selected = |option| ApprovalAnswer::Selected { option, reason: None };
        for line in ["y\n", "Y\n", " yes \n"] {
            assert_eq!(read(line, true), selected(ApprovalChoice::AllowOnce), "{line:?}");
        }
        assert_eq!(read("a\n", true), selected(ApprovalChoice::AllowAlways));
        for line in ["\n", "n\n", "yep\n", "yes please\n", "y y\n"] {
            assert_eq!(read(line, true), selected(ApprovalChoice::RejectOnce), "{line:?}");
        }
        assert_eq!(read("a\n", false), selected(ApprovalChoice::RejectOnce));
        assert_eq!(read("", true), ApprovalAnswer::Cancelled);
    }
}
