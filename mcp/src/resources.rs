//! Output of tasks as resources: byte-exact, from any offset, at most 256 KiB at a time.
//!
//! `brattice://task/bash-1/stdout?offset=0`. What a read gives and where to go on is in its `_meta`, so that a long output is read in
//! pieces; a task that runs has more later.

use brattice_client::ClientError;
use brattice_client::protocol::bytes::{self, Encoding};
use brattice_client::protocol::task::{OutputParams, TaskListParams, TaskSummary};
use brattice_client::protocol::tools::Stream;
use brattice_client::protocol::{ErrorCode, TaskId};
use rmcp::model::{
    ErrorData, ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, json};

use crate::link::{Attached, Down};

/// What the names begin with.
const SCHEME: &str = "brattice://task/";

/// Resources of one page.
const PAGE: usize = 100;

/// The streams of a task.
const STREAMS: [(Stream, &str); 2] = [(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")];

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    task: TaskId,
    stream: Stream,
    offset: u64,
}

/// The tasks' streams, the newest task first. The cursor is how many came before.
pub(crate) async fn list(
    attached: &Attached,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_| ErrorData::invalid_params(format!("no cursor: {cursor:?}"), None))?,
    };
    let params = TaskListParams { session: attached.session.clone() };
    let tasks = attached.client.task_list(&params).await.map_err(|error| fault(&error))?;
    let mut all = tasks.iter().rev().flat_map(|task| STREAMS.map(|(_, name)| resource(task, name)));
    let page: Vec<Resource> = all.by_ref().skip(from).take(PAGE).collect();
    let mut told = ListResourcesResult::with_all_items(page);
    told.next_cursor = all.next().map(|_| (from + PAGE).to_string());
    Ok(told)
}

fn resource(task: &TaskSummary, stream: &str) -> Resource {
    let TaskSummary { task: id, status, command, .. } = task;
    let status = serde_json::to_value(status).unwrap_or_default();
    let status = status.as_str().unwrap_or_default();
    let command = command.lines().next().unwrap_or_default();
    Resource::new(format!("{SCHEME}{id}/{stream}"), format!("{id} {stream}"))
        .with_description(format!("{status}: {command}"))
        .with_mime_type("text/plain")
}

/// How any part of any of them is named.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(format!("{SCHEME}{{task}}/{{stream}}{{?offset}}"), "task output")
        .with_description(
            "Output of a task, byte-exact: `stdout` or `stderr`, from a byte offset, at most 256 KiB at a time. Where to go on is \
             `dev.brattice/next_offset` in the contents' _meta.",
        )
        .with_mime_type("text/plain");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Reads a part.
pub(crate) async fn read(attached: &Attached, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let Part { task, stream, offset } = part(uri).ok_or_else(|| unknown(uri))?;
    let params = OutputParams {
        session: attached.session.clone(),
        task,
        stream: Some(stream),
        offset: Some(offset),
        limit: None,
        wait_ms: None,
    };
    let output = match attached.client.task_output(&params).await {
        Err(ClientError::Rpc(error)) if error.is(ErrorCode::UnknownTask) => {
            return Err(unknown(uri));
        }
        output => output.map_err(|error| fault(&error))?,
    };
    let garbled = |_| ErrorData::internal_error("the daemon sent output that is not base64", None);
    let data = bytes::decode(&output.data, output.encoding).map_err(garbled)?;
    let whole = whole_characters(&data);
    let (data, encoding) = bytes::encode(whole);
    let contents = match encoding {
        Encoding::Utf8 => ResourceContents::text(data, uri),
        Encoding::Base64 => {
            ResourceContents::blob(data, uri).with_mime_type("application/octet-stream")
        }
    };
    let meta: Map<_, _> = [
        ("dev.brattice/offset", json!(output.offset)),
        ("dev.brattice/next_offset", json!(output.offset + whole.len() as u64)),
        ("dev.brattice/skipped", json!(output.skipped)),
        ("dev.brattice/status", json!(output.status)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into_iter()
    .collect();
    Ok(ReadResourceResult::new(vec![contents.with_meta(MetaObject(meta))]))
}

/// The bytes without a character that a piece tore at its end, if they are text else.
fn whole_characters(data: &[u8]) -> &[u8] {
    match std::str::from_utf8(data) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            &data[..error.valid_up_to()]
        }
        Ok(_) | Err(_) => data,
    }
}

fn part(uri: &str) -> Option<Part> {
    let rest = uri.strip_prefix(SCHEME)?;
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let (task, stream) = path.split_once('/')?;
    let (stream, _) = STREAMS.into_iter().find(|(_, name)| *name == stream)?;
    let offset = match query {
        None | Some("") => 0,
        Some(query) => query.strip_prefix("offset=")?.parse().ok()?,
    };
    (!task.is_empty()).then(|| Part { task: TaskId::new(task), stream, offset })
}

fn unknown(uri: &str) -> ErrorData {
    let text = format!("no resource {uri:?}: expected {SCHEME}TASK/stdout or .../stderr");
    ErrorData::resource_not_found(text, Some(json!({"uri": uri})))
}

/// What the daemon refused.
pub(crate) fn fault(error: &ClientError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), error.hint().map(|hint| json!({"hint": hint})))
}

impl From<Down> for ErrorData {
    fn from(down: Down) -> Self {
        ErrorData::internal_error(down.to_string(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_task_a_stream_and_where_to_begin() {
        let named = |stream, offset| Some(Part { task: TaskId::new("bash-1"), stream, offset });
        let cases = [
            ("brattice://task/bash-1/stdout", named(Stream::Stdout, 0)),
            ("brattice://task/bash-1/stderr?offset=70", named(Stream::Stderr, 70)),
            ("brattice://task/bash-1/stdin", None),
            ("brattice://task/bash-1", None),
            ("brattice://task//stdout", None),
            ("brattice://task/bash-1/stdout?offset=-1", None),
            ("brattice://task/bash-1/stdout?limit=1", None),
            ("file:///etc/passwd", None),
        ];
        for (uri, expected) in cases {
            assert_eq!(part(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_torn_character_is_left_to_the_next_piece() {
        let euro = "a€".as_bytes();
        assert_eq!(whole_characters(&euro[..3]), b"a");
        assert_eq!(whole_characters(euro), euro);
        assert_eq!(whole_characters(b"\xff\xfe"), b"\xff\xfe");
        assert_eq!(whole_characters(&euro[1..3]), &euro[1..3], "there is nothing else");
    }
}
