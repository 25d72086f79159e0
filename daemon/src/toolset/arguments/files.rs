//! What calls that read, write and edit files ask for. What is wrong with the files is found out by whoever looks at them.

use brattice_files::edit::{Edit, Rule};
use brattice_files::{Apply, Window, read};
use serde_json::{Map, Value};

use super::bash::MAX_PATH_BYTES;
use super::fault::{ArgumentFault, Came, Expected};
use super::given::{Given, checked, unexpected};
use super::nested::Nested;
use super::wish::{Wish, wish};
use crate::toolset::definition::UnknownArguments;
use crate::toolset::parameter::files::{
    CONTENT, DRY_RUN, EDITS, END, FILE_PATH, FILES, FIRST_LINE, LINES, NEW_STRING, NUMBERED,
    OLD_STRING, PATH, REPLACE_ALL, START,
};
use crate::toolset::tool::{SessionTools, ToolKind};

/// Files of one call that edits.
const MOST_FILES: usize = 200;

/// What a call that reads a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadArguments {
    /// The file, as it was named.
    pub(crate) path: String,
    /// Which lines.
    pub(crate) window: Window,
    /// Whether they bear numbers, where the toolset leaves that to the call.
    pub(crate) numbers: LineNumbers,
}

/// Whether lines bear numbers where a call may say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineNumbers {
    /// They do.
    Shown,
    /// They do not.
    Hidden,
}

/// What a call that writes a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteArguments {
    /// The file, as it was named.
    pub(crate) path: String,
    /// What it shall hold.
    pub(crate) content: String,
    /// The wider mode that it asks for, if it asks.
    pub(crate) wish: Option<Wish>,
}

/// What a call that edits files asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditArguments {
    /// The files.
    pub(crate) files: Vec<EditedFile>,
    /// Whether it is done.
    pub(crate) apply: Apply,
    /// The wider mode that it asks for, if it asks.
    pub(crate) wish: Option<Wish>,
}

/// The edits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditedFile {
    /// The file, as it was named.
    pub(crate) path: String,
    /// Its edits.
    pub(crate) edits: Vec<Edit>,
}

/// Parses the arguments of a call that reads a file: a window by its length, by its ends, or all of it, as the toolset has it.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_read(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<ReadArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Read, arguments)?;
    let path = path(&given)?;
    let window = if given.declares(&FIRST_LINE) { window(&given)? } else { range(&given)? };
    let numbers = if given.flag(&NUMBERED)? { LineNumbers::Shown } else { LineNumbers::Hidden };
    Ok(ReadArguments { path, window, numbers })
}

fn window(given: &Given<'_>) -> Result<Window, ArgumentFault> {
    let offset = given.whole_number(&FIRST_LINE, 1)?.unwrap_or(1);
    let limit = given.within(&LINES, 1, read::LIMIT)?.unwrap_or(read::LIMIT);
    Window::lines(offset, limit).map_err(|_| {
        let came = given.value(&LINES).map_or(Came::Nothing, Came::value);
        unexpected(&LINES, Expected::WholeNumberWithin(1, read::LIMIT), came)
    })
}

fn range(given: &Given<'_>) -> Result<Window, ArgumentFault> {
    let start = given.whole_number(&START, 0)?.unwrap_or(0);
    let end = given.whole_number(&END, 0)?.unwrap_or(0);
    let name = END.name;
    Window::range(start, end).map_err(|_| ArgumentFault::Backwards {
        name,
        first: start.max(1),
        came: end,
    })
}

/// Parses the arguments of a call that writes a file.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_write(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<WriteArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Write, arguments)?;
    let (path, content) = (path(&given)?, given.required_text(&CONTENT)?.to_owned());
    Ok(WriteArguments { path, content, wish: wish(&given, &[])? })
}

/// Parses the arguments of a call that edits files: the fields of a single edit, a file with its edits, or files with theirs, as
/// the toolset has it.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_edit(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<EditArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Edit, arguments)?;
    let unknown = tools.toolset().unknown;
    let files = match (given.value(&EDITS), given.value(&FILES)) {
        (Some(edits), _) => {
            let edits = Nested::of(EDITS.name, Some(edits));
            vec![EditedFile { path: path(&given)?, edits: pairs(&edits, unknown)? }]
        }
        (None, None) => vec![single(&given)?],
        (None, Some(files)) => {
            for other in [&FILE_PATH, &OLD_STRING, &NEW_STRING, &REPLACE_ALL] {
                if let Some(value) = given.value(other) {
                    let (first, second) = (FILES.name, other.name);
                    return Err(ArgumentFault::Together {
                        first,
                        second,
                        came: Came::value(value),
                    });
                }
            }
            several(&Nested::of(FILES.name, Some(files)), unknown)?
        }
    };
    let apply = if given.flag(&DRY_RUN)? { Apply::DryRun } else { Apply::Write };
    // A dry run needs no permission.
    Ok(EditArguments { files, apply, wish: wish(&given, &[&DRY_RUN])? })
}

/// The file, by whatever name the tool has for it.
fn path(given: &Given<'_>) -> Result<String, ArgumentFault> {
    let parameter = if given.declares(&PATH) { &PATH } else { &FILE_PATH };
    checked(parameter, given.required_text(parameter)?, MAX_PATH_BYTES)
}

fn single(given: &Given<'_>) -> Result<EditedFile, ArgumentFault> {
    let takes_files = given.declares(&FILES);
    if takes_files
        && [&FILE_PATH, &OLD_STRING, &NEW_STRING].iter().all(|own| given.value(own).is_none())
    {
        return Err(ArgumentFault::Neither { first: FILE_PATH.name, second: FILES.name });
    }
    let path = path(given)?;
    let old = given.required_text(&OLD_STRING)?.to_owned();
    if old.is_empty() {
        let (place, name) = (OLD_STRING.name.to_owned(), OLD_STRING.name);
        return Err(ArgumentFault::NoOldText { place, name });
    }
    let new = given.required_text(&NEW_STRING)?.to_owned();
    let rule = rule(given.flag(&REPLACE_ALL)?);
    Ok(EditedFile { path, edits: vec![Edit { old, new, rule }] })
}

const fn rule(all: bool) -> Rule {
    if all { Rule::All } else { Rule::Once }
}

/// Edits of one file, each of one place. What is wrong with their texts is told of all of them together, by whoever looks for them.
fn pairs(edits: &Nested<'_>, unknown: UnknownArguments) -> Result<Vec<Edit>, ArgumentFault> {
    let pair = |edit: &Nested<'_>| {
        edit.object(&["old", "new"], unknown)?;
        let old = edit.field("old").any_text()?.to_owned();
        let new = edit.field("new").any_text()?.to_owned();
        Ok(Edit { old, new, rule: Rule::Once })
    };
    edits.all_entries()?.iter().map(pair).collect()
}

fn several(
    files: &Nested<'_>,
    unknown: UnknownArguments,
) -> Result<Vec<EditedFile>, ArgumentFault> {
    let edited = |file: &Nested<'_>| {
        file.object(&["path", "edits"], unknown)?;
        let path = file.field("path").for_kernel(MAX_PATH_BYTES)?.to_owned();
        let edits = file.field("edits").all_entries()?;
        let edits = edits.iter().map(|edit| one(edit, unknown));
        Ok(EditedFile { path, edits: edits.collect::<Result<_, _>>()? })
    };
    files.some_entries(MOST_FILES)?.iter().map(edited).collect()
}

fn one(edit: &Nested<'_>, unknown: UnknownArguments) -> Result<Edit, ArgumentFault> {
    edit.object(&[OLD_STRING.name, NEW_STRING.name, REPLACE_ALL.name], unknown)?;
    let old = edit.field(OLD_STRING.name);
    let text = old.any_text()?.to_owned();
    if text.is_empty() {
        return Err(old.no_old_text(OLD_STRING.name));
    }
    let new = edit.field(NEW_STRING.name).any_text()?.to_owned();
    let rule = rule(edit.field(REPLACE_ALL.name).flag()?);
    Ok(Edit { old: text, new, rule })
}

#[cfg(test)]
#[path = "tests/files.rs"]
mod tests;
