//! `brattice policy`: the rules and settings a session would be held by, one path's verdict under them, and a file's faults.

mod check;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brattice_protocol::config::{Layer, Setting};
use brattice_protocol::policy::{ExplainParams, Explanation, Policy, ShowParams};
use brattice_protocol::{Access, Mode, Operation};
use serde::Serialize;

use super::temporary::in_session;
use crate::cli::arguments::{Confinement, Policy as Arguments};
use crate::cli::confinement::absolute_text;
use crate::cli::plain::plain;
use crate::cli::terminal::{Style, columns};
use crate::cli::{Context, Failure};

/// Performs `policy show`, `policy check` or `policy explain`.
pub(crate) async fn policy(context: &Context, arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments {
        Arguments::Show(confinement) => show(context, &confinement).await,
        Arguments::Check { file, operator } => {
            check::check(context, &file, check::author(&file, operator))
        }
        Arguments::Explain { path, write, confinement } => {
            let question = Question::about(&path, if write { Wish::Write } else { Wish::Read })?;
            explain(context, &confinement, question).await
        }
    }
}

async fn show(context: &Context, confinement: &Confinement) -> Result<ExitCode, Failure> {
    let params = confinement.open_params("brattice policy show")?;
    let client = context.agent().await?;
    let policy = in_session(&client, &params, async |session, interrupts| {
        let params = ShowParams { session: session.session.clone() };
        interrupts.guard(client.policy_show(&params)).await
    })
    .await?;
    context.show("the policy", &policy, |style| rules(&policy, style))
}

fn rules(policy: &Policy, style: Style) -> String {
    let mut text =
        format!("mode     {}\nnetwork  {}\n\n", style.bold(policy.mode.as_str()), policy.network);
    if policy.mode.is_confined() {
        text.push_str(&grants(policy, style));
    } else {
        text.push_str("commands are not confined: no rules\n");
    }
    if !policy.settings.is_empty() {
        text.push('\n');
        text.push_str(&settings(&policy.settings));
    }
    text
}

fn grants(policy: &Policy, style: Style) -> String {
    let mut rows: Vec<_> = policy
        .grants
        .iter()
        .map(|grant| {
            [
                access(grant.access).to_owned(),
                grant.path.display().to_string(),
                grant.reason.as_str().to_owned(),
            ]
        })
        .collect();
    let path = |path: &PathBuf| path.display().to_string();
    if policy.private_temp {
        rows.push(["write".to_owned(), "/tmp".to_owned(), "temp, by another name".to_owned()]);
    }
    let held = [("read", &policy.protected, "protect"), ("none", &policy.hidden, "deny-read")];
    for (access, paths, reason) in held {
        rows.extend(paths.iter().map(|it| [access.to_owned(), path(it), reason.to_owned()]));
    }
    let mut text = columns(&rows);
    for it in &policy.unprotected {
        text.push_str(&style.yellow(&format!("not protected: {}\n", path(it))));
    }
    text
}

/// Each setting with where it comes from: the file and line, else who or what says it.
fn settings(settings: &[Setting]) -> String {
    let row = |Setting { key, value, layer, place }: &Setting| {
        let layer = match layer {
            Layer::BuiltIn => "built in",
            Layer::Operator => "operator",
            Layer::User => "user",
            Layer::Session => "session",
        };
        [key.clone(), value.clone(), layer.to_owned(), place.clone().unwrap_or_default()]
    };
    columns(&settings.iter().map(row).collect::<Vec<_>>())
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Device => "device",
        Access::Connect => "connect",
    }
}

/// What somebody wants to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Read,
    Write,
}

/// A path, and the operation that the wish comes to there.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    path: String,
    operation: Operation,
}

impl Question {
    fn about(path: &Path, wish: Wish) -> Result<Self, Failure> {
        let path = absolute_text(path)?;
        let operation = match wish {
            Wish::Read => Operation::Read,
            Wish::Write if Path::new(&path).exists() => Operation::Write,
            // What is not there would have to be made.
            Wish::Write => Operation::Create,
        };
        Ok(Question { path, operation })
    }
}

/// The daemon's answer with what it was asked.
#[derive(Serialize)]
struct Explained<'a> {
    asked: &'a str,
    operation: Operation,
    mode: Mode,
    #[serde(flatten)]
    answer: &'a Explanation,
}

async fn explain(
    context: &Context,
    confinement: &Confinement,
    Question { path, operation }: Question,
) -> Result<ExitCode, Failure> {
    let params = confinement.open_params("brattice policy explain")?;
    let client = context.agent().await?;
    let (mode, answer) = in_session(&client, &params, async |session, interrupts| {
        let params =
            ExplainParams { session: session.session.clone(), path: path.clone(), operation };
        let answer = interrupts.guard(client.policy_explain(&params)).await?;
        Ok((session.mode, answer))
    })
    .await?;
    let explained = Explained { asked: &path, operation, mode, answer: &answer };
    context.show("the verdict", &explained, |style| sentence(&explained, style))
}

fn sentence(explained: &Explained<'_>, style: Style) -> String {
    let Explained { asked, operation, mode, answer: Explanation { path, verdict } } = explained;
    let verb = match operation {
        Operation::Read => "read",
        Operation::Execute => "execute",
        Operation::Write => "write",
        Operation::Create => "create",
        Operation::Remove => "remove",
    };
    let answer = if verdict.allowed { style.green("allowed") } else { style.red("refused") };
    let why = match (&verdict.rule, &verdict.layer) {
        (Some(rule), Some(layer)) => format!("by the {layer} rule \"{rule}\""),
        (Some(rule), None) => format!("by the rule \"{rule}\""),
        (None, Some(layer)) => format!("by {layer}: no rule of this session covers it"),
        (None, None) => "commands are not confined".to_owned(),
    };
    let mut text = format!("{verb} {}: {answer} in {mode}, {}\n", plain(asked), plain(&why));
    if path != asked {
        text.push_str(&format!("  the path leads to {}\n", plain(path)));
    }
    if let Some(needed) = verdict.mode_needed {
        text.push_str(&format!("  the narrowest mode that allows it: {needed}\n"));
    }
    if verdict.allowed {
        text.push_str("  file permissions still apply\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use brattice_protocol::Verdict;

    use super::*;

    #[test]
    fn a_wish_becomes_an_operation_on_what_is_there() {
        let question = |path, wish| Question::about(Path::new(path), wish).unwrap();
        let expected = |path: &str, operation| Question { path: path.to_owned(), operation };
        assert_eq!(
            question("/proc/../dev/null", Wish::Read),
            expected("/proc/../dev/null", Operation::Read)
        );
        assert_eq!(question("/dev/null", Wish::Write), expected("/dev/null", Operation::Write));
        let fresh = "/dev/brattice-none/x";
        assert_eq!(question(fresh, Wish::Read), expected(fresh, Operation::Read));
        assert_eq!(question(fresh, Wish::Write), expected(fresh, Operation::Create));
    }

    #[test]
    fn settings_are_told_with_where_each_comes_from() {
        let setting = |key: &str, value: &str, layer, place: Option<&str>| Setting {
            key: key.to_owned(),
            value: value.to_owned(),
            layer,
            place: place.map(str::to_owned),
        };
        let told = settings(&[
            setting("[session] mode", "read-only", Layer::User, Some("/c.toml:2")),
            setting("[limits] max_tasks", "64", Layer::BuiltIn, None),
        ]);
        let lines: Vec<Vec<&str>> = told
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect())
            .collect();
        assert_eq!(
            lines,
            [
                vec!["[session] mode", "read-only", "user", "/c.toml:2"],
                vec!["[limits] max_tasks", "64", "built in"],
            ]
        );
    }

    #[test]
    fn a_verdict_is_a_sentence_with_its_reason() {
        let verdict = Verdict {
            allowed: false,
            layer: Some("landlock".into()),
            rule: None,
            mode_needed: Some(Mode::DangerFullAccess),
        };
        let explained = Explained {
            asked: "/var/run/x",
            operation: Operation::Create,
            mode: Mode::ReadOnly,
            answer: &Explanation { path: "/run/x".into(), verdict },
        };
        assert_eq!(
            sentence(&explained, Style::Plain),
            "create /var/run/x: refused in read-only, by landlock: no rule of this session covers it\n  \
             the path leads to /run/x\n  \
             the narrowest mode that allows it: danger-full-access\n"
        );
    }
}
