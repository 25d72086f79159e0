//! `brattice task output`: what a task has printed, byte for byte, and what it prints from now on.

use std::io::Write as _;
use std::process::ExitCode;

use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::tools::Stream;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWrite;

use super::find::{connect, find};
use crate::cli::task::Output;
use crate::cli::terminal::Format;
use crate::cli::{Context, Failure};
use crate::commands::follow::{Pumped, Reader, Task, Until, denied, pump};

/// Which streams are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Each to ours of the same name.
    Both,
    /// One, to standard output.
    One(Stream),
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    At(u64),
    /// So many bytes before its end.
    Tail(u64),
}

/// What is read, and how far.
struct Reading<'a> {
    context: &'a Context,
    task: Task,
    begin: Begin,
    until: Until,
    /// No stream is longer than both were when they were looked at, save by what came since.
    now: Until,
}

/// Shows the output.
pub(super) async fn output(context: &Context, arguments: Output) -> Result<ExitCode, Failure> {
    let (shown, begin) = (Shown::of(&arguments), Begin::of(&arguments));
    let link = connect(context).await?;
    let found = find(&link, &arguments.target).await?;
    let now = Until::Now(found.summary.bytes);
    let until = if arguments.follow { Until::End } else { now };
    let task = found.by(link);
    let reading = Reading { context, task, begin, until, now };
    let stdout = tokio::io::stdout();
    let copied = match shown {
        Shown::One(stream) => vec![(stream, reading.copy(stream, stdout).await?)],
        Shown::Both => {
            let stderr = reading.copy(Stream::Stderr, tokio::io::stderr());
            let (out, err) = tokio::try_join!(reading.copy(Stream::Stdout, stdout), stderr)?;
            vec![(Stream::Stdout, out), (Stream::Stderr, err)]
        }
    };
    // What it was denied is told once it has ended, beside its output and never in it. The output is there already: that
    // nothing can be said beside it, as of a session that was closed meanwhile, is no failure.
    let is_over = copied.iter().all(|(_, pumped)| pumped.status.is_final());
    let ended = if is_over { reading.task.ended().await.ok().flatten() } else { None };
    match context.format {
        Format::Text => tell(&ended.as_ref().map(denied).unwrap_or_default().concat())?,
        Format::Json => tell(&format!("{}\n", positions(&copied, ended.as_ref())))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Shown {
    fn of(arguments: &Output) -> Self {
        match (arguments.stdout, arguments.stderr, arguments.offset) {
            (_, true, _) => Shown::One(Stream::Stderr),
            (true, ..) | (.., Some(_)) => Shown::One(Stream::Stdout),
            (false, false, None) => Shown::Both,
        }
    }
}

impl Begin {
    fn of(arguments: &Output) -> Self {
        match arguments.tail_bytes {
            Some(count) => Begin::Tail(count),
            None => Begin::At(arguments.offset.unwrap_or(0)),
        }
    }
}

impl Reading<'_> {
    async fn copy(&self, stream: Stream, sink: impl AsyncWrite + Unpin) -> Result<Pumped, Failure> {
        let from = match self.begin {
            Begin::At(offset) => offset,
            Begin::Tail(count) => self.length(stream).await?.saturating_sub(count),
        };
        let skip = |bytes| tell_gap(self.context, stream, bytes);
        let pumped = pump(&self.task, stream, from, self.until, sink, skip).await?;
        match pumped.reader {
            Reader::There => Ok(pumped),
            // As after SIGPIPE, whatever the other stream still has.
            Reader::Gone => Err(Failure::output("output")(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// How long a stream is by now. Reads it all, which is never more than the spool's cap.
    async fn length(&self, stream: Stream) -> Result<u64, Failure> {
        Ok(pump(&self.task, stream, 0, self.now, tokio::io::sink(), |_| {}).await?.offset)
    }
}

fn tell_gap(context: &Context, stream: Stream, bytes: u64) {
    let name = name(stream);
    let told = match context.format {
        Format::Text => format!("[{name}: {bytes} bytes dropped from the middle]\n"),
        Format::Json => format!("{}\n", json!({"stream": name, "skipped": bytes})),
    };
    // The bytes that follow are worth more than the note on those that are missing.
    drop(tell(&told));
}

const fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

fn tell(text: &str) -> Result<(), Failure> {
    std::io::stderr().write_all(text.as_bytes()).map_err(Failure::output("error"))
}

/// Where each stream goes on, in which state the task was then, and what it was denied, once it has ended.
fn positions(copied: &[(Stream, Pumped)], ended: Option<&CommandOutcome>) -> Value {
    let streams = copied.iter().map(|(stream, Pumped { offset, skipped, status, .. })| {
        let position = json!({"next_offset": offset, "skipped": skipped, "status": status});
        (name(*stream).to_owned(), position)
    });
    let mut told = streams.collect::<Map<_, _>>();
    if let Some(CommandOutcome { denials, denials_total, .. }) = ended {
        told.insert("denials".to_owned(), json!(denials));
        told.insert("denials_total".to_owned(), json!(denials_total));
    }
    Value::Object(told)
}
