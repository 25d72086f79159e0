//! What calls of `read`, `write` and `edit` ask for. What is wrong with the files is found out by whoever looks at them.

use brattice_files::edit::{Edit, Rule};
use brattice_files::{Apply, Window, read};
use serde_json::{Map, Value};

use super::bash::MAX_PATH_BYTES;
use super::fault::{ArgumentFault, Came, Expected, shorten};
use super::given::{Given, checked, unexpected};
use crate::toolset::parameter::Parameter;
use crate::toolset::parameter::files::{
    CONTENT, DRY_RUN, FILE_PATH, FILES, FIRST_LINE, LINES, NEW_STRING, OLD_STRING, REPLACE_ALL,
};
use crate::toolset::tool::{SessionTools, ToolKind};

/// Files of one call of `edit`.
const MOST_FILES: usize = 200;

/// What a call of `read` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadArguments {
    /// The file, as it was named.
    pub(crate) path: String,
    /// Which lines.
    pub(crate) window: Window,
}

/// What a call of `write` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteArguments {
    /// The file, as it was named.
    pub(crate) path: String,
    /// What it shall hold.
    pub(crate) content: String,
}

/// What a call of `edit` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditArguments {
    /// The files.
    pub(crate) files: Vec<EditedFile>,
    /// Whether it is done.
    pub(crate) apply: Apply,
}

/// The edits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditedFile {
    /// The file, as it was named.
    pub(crate) path: String,
    /// Its edits.
    pub(crate) edits: Vec<Edit>,
}

/// Parses the arguments of a call of `read`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_read(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<ReadArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Read, arguments)?;
    let path = path(&given)?;
    let offset = given.whole_number(&FIRST_LINE, 1)?.unwrap_or(1);
    let limit = given.within(&LINES, 1, read::LIMIT)?.unwrap_or(read::LIMIT);
    let window = Window::lines(offset, limit).map_err(|_| {
        let came = given.value(&LINES).map_or(Came::Nothing, Came::value);
        unexpected(&LINES, Expected::WholeNumberWithin(1, read::LIMIT), came)
    })?;
    Ok(ReadArguments { path, window })
}

/// Parses the arguments of a call of `write`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_write(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<WriteArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Write, arguments)?;
    Ok(WriteArguments { path: path(&given)?, content: given.required_text(&CONTENT)?.to_owned() })
}

/// Parses the arguments of a call of `edit`: the fields of a single edit, or files with theirs.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_edit(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<EditArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Edit, arguments)?;
    let files = match given.value(&FILES) {
        None => vec![single(&given)?],
        Some(files) => {
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
            several(files)?
        }
    };
    let apply = if given.flag(&DRY_RUN)? { Apply::DryRun } else { Apply::Write };
    Ok(EditArguments { files, apply })
}

fn path(given: &Given<'_>) -> Result<String, ArgumentFault> {
    checked(&FILE_PATH, given.required_text(&FILE_PATH)?, MAX_PATH_BYTES)
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
        return Err(ArgumentFault::NoOldString { place: OLD_STRING.name.to_owned() });
    }
    let new = given.required_text(&NEW_STRING)?.to_owned();
    let rule = rule(given.flag(&REPLACE_ALL)?);
    Ok(EditedFile { path, edits: vec![Edit { old, new, rule }] })
}

const fn rule(all: bool) -> Rule {
    if all { Rule::All } else { Rule::Once }
}

fn several(value: &Value) -> Result<Vec<EditedFile>, ArgumentFault> {
    let place = FILES.name;
    let files = entries(place, value)?;
    if files.len() > MOST_FILES {
        let came = Came::Entries(files.len());
        let expected = Expected::EntriesOfAtMost(MOST_FILES);
        return Err(ArgumentFault::Inside { place: place.to_owned(), expected, came });
    }
    files
        .iter()
        .enumerate()
        .map(|(number, file)| {
            let place = format!("{place}[{number}]");
            let file = object(&place, file, &["path", "edits"])?;
            let path = text(&format!("{place}.path"), file.get("path"))?;
            if path.trim().is_empty() || path.contains('\0') || path.len() > MAX_PATH_BYTES {
                let came = Came::value(&Value::from(path));
                let place = format!("{place}.path");
                return Err(ArgumentFault::Inside {
                    place,
                    expected: Expected::NonBlankText,
                    came,
                });
            }
            let place = format!("{place}.edits");
            let edits = entries(&place, file.get("edits").unwrap_or(&Value::Null))?;
            let edits = edits
                .iter()
                .enumerate()
                .map(|(number, edit)| one(&format!("{place}[{number}]"), edit));
            Ok(EditedFile { path, edits: edits.collect::<Result<_, _>>()? })
        })
        .collect()
}

fn one(place: &str, value: &Value) -> Result<Edit, ArgumentFault> {
    let edit = object(place, value, &[OLD_STRING.name, NEW_STRING.name, REPLACE_ALL.name])?;
    let at = |parameter: &Parameter| format!("{place}.{}", parameter.name);
    let old = text(&at(&OLD_STRING), edit.get(OLD_STRING.name))?;
    if old.is_empty() {
        return Err(ArgumentFault::NoOldString { place: at(&OLD_STRING) });
    }
    let new = text(&at(&NEW_STRING), edit.get(NEW_STRING.name))?;
    let all = match edit.get(REPLACE_ALL.name) {
        None => false,
        Some(Value::Bool(all)) => *all,
        Some(other) => return Err(inside(at(&REPLACE_ALL), Expected::Flag, Some(other))),
    };
    Ok(Edit { old, new, rule: rule(all) })
}

fn entries<'a>(place: &str, value: &'a Value) -> Result<&'a [Value], ArgumentFault> {
    let entries = value.as_array().filter(|entries| !entries.is_empty());
    let fault = || {
        let came = (!value.is_null()).then_some(value);
        inside(place.to_owned(), Expected::NonEmptyArray, came)
    };
    entries.map(Vec::as_slice).ok_or_else(fault)
}

fn object<'a>(
    place: &str,
    value: &'a Value,
    known: &[&str],
) -> Result<&'a Map<String, Value>, ArgumentFault> {
    let Value::Object(object) = value else {
        return Err(inside(place.to_owned(), Expected::Object, Some(value)));
    };
    match object.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        Some((key, value)) => {
            Err(inside(format!("{place}.{}", shorten(key)), Expected::Nothing, Some(value)))
        }
        None => Ok(object),
    }
}

fn text(place: &str, value: Option<&Value>) -> Result<String, ArgumentFault> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        other => Err(inside(place.to_owned(), Expected::Text, other)),
    }
}

fn inside(place: String, expected: Expected, came: Option<&Value>) -> ArgumentFault {
    ArgumentFault::Inside { place, expected, came: came.map_or(Came::Nothing, Came::value) }
}

#[cfg(test)]
#[path = "tests/files.rs"]
mod tests;
