//! `brattice policy`: the rules a session would be held by, and one path's verdict under them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brattice_protocol::policy::{ExplainParams, Policy, ShowParams};
use brattice_protocol::{Access, Mode, Operation, Verdict};
use serde::Serialize;

use super::temporary::in_session;
use crate::cli::arguments::{Confinement, Policy as Arguments};
use crate::cli::confinement::absolute_text;
use crate::cli::terminal::{Style, columns};
use crate::cli::{Context, Failure};

/// Performs `policy show` or `policy explain`.
pub(crate) async fn policy(context: &Context, arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments {
        Arguments::Show(confinement) => show(context, &confinement).await,
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
    if !policy.mode.is_confined() {
        text.push_str("commands are not confined: no rules\n");
        return text;
    }
    let rows: Vec<_> = policy
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
    text.push_str(&columns(&rows));
    text
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Device => "device",
    }
}

/// What somebody wants to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Read,
    Write,
}

/// A path, where it leads to, and the operation that the wish comes to there.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    path: String,
    canonical: PathBuf,
    operation: Operation,
}

impl Question {
    fn about(path: &Path, wish: Wish) -> Result<Self, Failure> {
        let absolute = absolute_text(path)?;
        let (canonical, operation) = match (std::fs::canonicalize(&absolute), wish) {
            (Ok(canonical), Wish::Read) => (canonical, Operation::Read),
            (Ok(canonical), Wish::Write) => (canonical, Operation::Write),
            (Err(_), wish) => (
                resolve_parents(Path::new(&absolute)),
                match wish {
                    Wish::Read => Operation::Read,
                    // What is not there would have to be made.
                    Wish::Write => Operation::Create,
                },
            ),
        };
        Ok(Question { path: absolute, canonical, operation })
    }
}

/// The path with links resolved as far up as it exists.
fn resolve_parents(path: &Path) -> PathBuf {
    let found = path.ancestors().skip(1).find_map(|ancestor| {
        let rest = path.strip_prefix(ancestor).ok()?;
        Some(std::fs::canonicalize(ancestor).ok()?.join(rest))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// A verdict with what it is about.
#[derive(Serialize)]
struct Explained<'a> {
    path: &'a str,
    canonical: &'a Path,
    operation: Operation,
    mode: Mode,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

async fn explain(
    context: &Context,
    confinement: &Confinement,
    question: Question,
) -> Result<ExitCode, Failure> {
    let params = confinement.open_params("brattice policy explain")?;
    let client = context.agent().await?;
    let Question { path, canonical, operation } = &question;
    let (mode, verdict) = in_session(&client, &params, async |session, interrupts| {
        let params = ExplainParams {
            session: session.session.clone(),
            path: path.clone(),
            operation: *operation,
        };
        let verdict = interrupts.guard(client.policy_explain(&params)).await?;
        Ok((session.mode, verdict))
    })
    .await?;
    let explained = Explained { path, canonical, operation: *operation, mode, verdict: &verdict };
    context.show("the verdict", &explained, |style| sentence(&explained, style))
}

fn sentence(explained: &Explained<'_>, style: Style) -> String {
    let Explained { path, canonical, operation, mode, verdict } = explained;
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
    let mut text = format!("{verb} {path}: {answer} in {mode}, {why}\n");
    if *canonical != Path::new(path) {
        text.push_str(&format!("  the path leads to {}\n", canonical.display()));
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
    use super::*;

    #[test]
    fn a_wish_becomes_an_operation_on_where_the_path_leads() {
        let question = |path, wish| {
            let Question { canonical, operation, .. } =
                Question::about(Path::new(path), wish).unwrap();
            (canonical, operation)
        };
        assert_eq!(
            question("/proc/../dev/null", Wish::Read),
            ("/dev/null".into(), Operation::Read)
        );
        assert_eq!(question("/dev/null", Wish::Write), ("/dev/null".into(), Operation::Write));
        let fresh = "/dev/../dev/brattice-none/x";
        assert_eq!(
            question(fresh, Wish::Write),
            ("/dev/brattice-none/x".into(), Operation::Create)
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
            path: "/var/run/x",
            canonical: Path::new("/run/x"),
            operation: Operation::Create,
            mode: Mode::ReadOnly,
            verdict: &verdict,
        };
        assert_eq!(
            sentence(&explained, Style::Plain),
            "create /var/run/x: refused in read-only, by landlock: no rule of this session covers it\n  \
             the path leads to /run/x\n  \
             the narrowest mode that allows it: danger-full-access\n"
        );
    }
}
