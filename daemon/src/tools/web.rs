//! The tool `web_fetch`: done by the session's web worker, whatever mode the session has. Pages that fail are told beside those that do
//! not.

use std::sync::Arc;

use brattice_protocol::RpcError;
use serde_json::{Map, Value};

use super::bash::turned_away;
use super::call::{Answer, Report};
use super::work::bounded;
use crate::fault::chain;
use crate::session::{RunningCall, Session, WebError};
use crate::toolset::parse_web_fetch;
use crate::toolset::render::{Facts, Success, render_fetched};
use crate::web::{Answer as Answered, Request};

/// What is said where the worker fails in itself.
const BROKEN: &str = "the process that fetches pages failed; the call can be made again";

/// Characters of a URL in a title.
const TITLE_CHARS: usize = 200;

/// Fetches pages.
pub(super) async fn fetch(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let toolset = session.toolset();
    let urls = match parse_web_fetch(session.tools(), arguments) {
        Ok(urls) => urls,
        Err(fault) => return Answer::refused(toolset.error(&fault.to_string())),
    };
    report.set_title(title(report.tool(), &urls));
    report.begins(&[], None);
    let request = Request { urls, allowed: session.web_allowed() };
    let asked = tokio::select! {
        answered = session.on_web(request) => answered,
        () = call.cancelled() => return Answer::refused(toolset.error("[cancelled]")),
        reason = session.refusing() => Err(WebError::Start(reason)),
    };
    match asked {
        Ok(Answered::Fetched(fetched)) => {
            let (said, success) = render_fetched(session.tools(), &fetched);
            let facts = Facts::Pages(said.facts);
            match success {
                Success::Some => Answer::told(said.text, facts),
                Success::None => {
                    Answer { facts: Some(facts), ..Answer::refused(toolset.error(&said.text)) }
                }
            }
        }
        Ok(Answered::Broken) => Answer::refused(toolset.error(BROKEN)),
        Err(WebError::Start(reason)) => {
            Answer::turned_away(toolset.error(&turned_away(RpcError::from(&reason))))
        }
        Err(error) => Answer::refused(toolset.error(&bounded(chain(&error)))),
    }
}

/// The call in a line for people.
fn title(tool: &str, urls: &[String]) -> String {
    let first = urls.first().map(String::as_str).unwrap_or_default();
    let first: String = first.chars().filter(|sign| !sign.is_control()).take(TITLE_CHARS).collect();
    match urls.len() {
        0 | 1 => format!("{tool} {first}"),
        number => format!("{tool} {first} and {} more", number - 1),
    }
}
