//! `brattice audit verify`: whether the log is still what was written, and where it no longer is.

use std::path::Path;
use std::process::ExitCode;

use brattice_protocol::audit::{self, Break, FileNumber, Head, Line, Verified};
use serde::Serialize;

use super::files::{LogError, LogFiles};
use super::{log_files, words};
use crate::cli::audit::Verify;
use crate::cli::plain::plain;
use crate::cli::terminal::Style;
use crate::cli::{Context, Failure};

/// Looks at the files again where one went away meanwhile: the daemon removes the oldest as it begins a new one.
const ATTEMPTS: usize = 3;

/// What `verify` tells programs.
#[derive(Serialize)]
#[serde(untagged)]
enum Verdict<'a> {
    Whole {
        whole: bool,
        folder: &'a Path,
        first: u64,
        head: Option<Head>,
        about: Vec<About<'a>>,
        unfinished: u64,
    },
    Changed {
        whole: bool,
        folder: &'a Path,
        file: FileNumber,
        line: u64,
        reason: String,
    },
}

/// A line that tells of the log itself.
#[derive(Serialize)]
struct About<'a> {
    file: FileNumber,
    line: u64,
    #[serde(flatten)]
    told: &'a Line,
}

/// Verifies. Exit status 1 if anything was changed.
pub(super) fn verify(context: &Context, arguments: &Verify) -> Result<ExitCode, Failure> {
    let files = log_files(context, &arguments.log);
    let verdict = judge(&files, arguments.noted)?;
    let data = match &verdict {
        Ok(verified) => whole(files.folder(), verified),
        Err(Break { place, fault }) => Verdict::Changed {
            whole: false,
            folder: files.folder(),
            file: place.file,
            line: place.line,
            reason: fault.to_string(),
        },
    };
    let shown = context.show("the verdict", &data, |style| match &verdict {
        Ok(verified) => praise(&files, verified, style),
        Err(fault) => blame(&files, fault, style),
    })?;
    Ok(if verdict.is_ok() { shown } else { ExitCode::FAILURE })
}

fn judge(files: &LogFiles, noted: Option<Head>) -> Result<Result<Verified, Break>, LogError> {
    let mut attempt = 1;
    loop {
        match audit::verify(files.all_lines(files.list()?), noted) {
            Err(error) if error.is_gone() && attempt < ATTEMPTS => attempt += 1,
            verdict => return verdict,
        }
    }
}

fn whole<'a>(folder: &'a Path, verified: &'a Verified) -> Verdict<'a> {
    let Verified { first, head, about, unfinished } = verified;
    let about = about
        .iter()
        .map(|(place, told)| About { file: place.file, line: place.line, told })
        .collect();
    Verdict::Whole {
        whole: true,
        folder,
        first: *first,
        head: *head,
        about,
        unfinished: *unfinished,
    }
}

fn praise(files: &LogFiles, verified: &Verified, style: Style) -> String {
    let folder = plain(&files.folder().display().to_string());
    let Some(head) = verified.head else {
        return format!("the audit log in {folder} has no line yet\n");
    };
    let verdict = style.green("no change found");
    let mut text =
        format!("{verdict}: lines {} to {} in {folder}\nhead: {head}\n", verified.first, head.seq);
    if !verified.about.is_empty() {
        text.push_str("\nthe log tells of itself:\n");
        for (_, line) in &verified.about {
            // A line that was read can be written.
            let line = serde_json::to_vec(line).unwrap_or_default();
            text.push_str(&words::line(&line, style));
        }
    }
    if verified.unfinished > 0 {
        text.push_str(&format!(
            "\nthe last {} bytes are no whole line: it is being written, or a crash cut it off\n",
            verified.unfinished
        ));
    }
    text
}

fn blame(files: &LogFiles, Break { place, fault }: &Break, style: Style) -> String {
    let path = files.path(place.file);
    let told = plain(&format!("{}:{}: {fault}", path.display(), place.line));
    format!("{} {told}\n", style.red("changed:"))
}
