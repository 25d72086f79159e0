//! The tools `grep` and `glob`: done by the session's file worker, in the session's mode. What is not found is no error.

use std::path::PathBuf;
use std::sync::Arc;

use brattice_search::{GlobQuery, GrepQuery, UserRules};
use serde_json::{Map, Value};

use super::call::{Answer, Report};
use super::work::Work;
use crate::files::{Answer as Answered, QueryArgument, QueryFault, Request};
use crate::session::{RunningCall, Session};
use crate::toolset::render::{Facts, Searched, render_found, render_listed};
use crate::toolset::{GlobArguments, GrepArguments, parse_glob, parse_grep};

/// Bytes of lines and paths of a result. As data they are there once more, and both stay below what a result may have.
const MOST_BYTES: usize = 96 * 1024;

/// Searches in files.
pub(super) async fn grep(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let arguments = match parse_grep(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    let GrepArguments { pattern, syntax, letter_case, span, root, glob, ignored, most, output } =
        arguments;
    let root = begin(&work, report, &format!("grep {pattern}"), root);
    let query = GrepQuery {
        root,
        pattern,
        syntax,
        letter_case,
        span,
        glob,
        ignored,
        user_rules: UserRules::Leave,
        output,
        max_results: most,
        max_bytes: MOST_BYTES,
    };
    match work.ask(Request::Grep(query)).await {
        Ok(Answered::Grepped(Ok(found))) => {
            let profile = session.profile();
            let workspace = profile.workspace();
            let said =
                render_found(Searched { tools: session.tools(), workspace, most }, output, &found);
            Answer::told(said.text, Facts::Matches(said.facts))
        }
        Ok(Answered::Grepped(Err(fault))) => work.refused(&words(&fault)),
        Ok(_) => work.broken(),
        Err(answer) => answer,
    }
}

/// Finds files by their names.
pub(super) async fn glob(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let GlobArguments { pattern, root, ignored, most } =
        match parse_glob(session.tools(), arguments) {
            Ok(arguments) => arguments,
            Err(fault) => return work.refused(&fault.to_string()),
        };
    let root = begin(&work, report, &format!("glob {pattern}"), root);
    let user_rules = UserRules::Leave;
    let query = GlobQuery { root, pattern, ignored, user_rules, max_results: most };
    match work.ask(Request::Glob(query)).await {
        Ok(Answered::Listed(Ok(listed))) => {
            let profile = session.profile();
            let workspace = profile.workspace();
            let said = render_listed(Searched { tools: session.tools(), workspace, most }, &listed);
            Answer::told(said.text, Facts::Matches(said.facts))
        }
        Ok(Answered::Listed(Err(fault))) => work.refused(&words(&fault)),
        Ok(_) => work.broken(),
        Err(answer) => answer,
    }
}

/// Tells that the search begins, and where.
fn begin(work: &Work<'_>, report: &mut Report<'_>, title: &str, root: Option<String>) -> PathBuf {
    let root = work.session.working_directory(root.as_deref());
    report.set_title(title.lines().next().unwrap_or_default().to_owned());
    report.begins(std::slice::from_ref(&root), None);
    root
}

fn words(QueryFault { argument, text }: &QueryFault) -> String {
    match argument {
        QueryArgument::Pattern => format!("argument `pattern`: {text}"),
        QueryArgument::Glob => format!("no such glob: {text}"),
        QueryArgument::Root => format!("argument `path`: {text}"),
    }
}
