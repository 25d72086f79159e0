//! Values inside an argument, each with the place where it stands, such as `questions[0].options[1].label`.

use serde_json::Value;

use super::fault::{ArgumentFault, Came, Expected, shorten};
use crate::toolset::definition::UnknownArguments;

/// A value, or nothing, at its place.
#[derive(Clone, Debug)]
pub(super) struct Nested<'a> {
    place: String,
    value: Option<&'a Value>,
}

impl<'a> Nested<'a> {
    /// An argument's own.
    pub(super) fn of(name: &str, value: Option<&'a Value>) -> Self {
        Nested { place: name.to_owned(), value }
    }

    /// Whether there is something, and not null.
    pub(super) fn is_there(&self) -> bool {
        self.value.is_some_and(|value| !value.is_null())
    }

    /// A field of an object.
    pub(super) fn field(&self, name: &str) -> Nested<'a> {
        let value = self.value.and_then(|value| value.get(name));
        Nested { place: format!("{}.{name}", self.place), value }
    }

    /// An object, with no other fields where they are refused.
    pub(super) fn object(
        &self,
        known: &[&str],
        unknown: UnknownArguments,
    ) -> Result<(), ArgumentFault> {
        let Some(Value::Object(object)) = self.value else {
            return Err(self.fault(Expected::Object));
        };
        let other = object.keys().find(|key| !known.contains(&key.as_str()));
        match (unknown, other) {
            (UnknownArguments::Refuse, Some(key)) => {
                let place = format!("{}.{}", self.place, shorten(key));
                Err(Nested { place, value: object.get(key) }.fault(Expected::Nothing))
            }
            (UnknownArguments::Refuse, None) | (UnknownArguments::Ignore, _) => Ok(()),
        }
    }

    /// The entries of a list; `expected` names one in the fault of what is none.
    fn listed(&self, expected: Expected) -> Result<Vec<Nested<'a>>, ArgumentFault> {
        let Some(Value::Array(entries)) = self.value else {
            return Err(self.fault(expected));
        };
        let entry = |(number, value)| Nested {
            place: format!("{}[{number}]", self.place),
            value: Some(value),
        };
        Ok(entries.iter().enumerate().map(entry).collect())
    }

    /// The entries of a list of at most so many.
    pub(super) fn entries(&self, most: usize) -> Result<Vec<Nested<'a>>, ArgumentFault> {
        let entries = self.listed(Expected::Array)?;
        if entries.len() > most {
            let came = Came::Entries(entries.len());
            return Err(self.other(Expected::EntriesOfAtMost(most), came));
        }
        Ok(entries)
    }

    /// Those of one with something in it.
    pub(super) fn some_entries(&self, most: usize) -> Result<Vec<Nested<'a>>, ArgumentFault> {
        match self.entries(most)? {
            entries if entries.is_empty() => Err(self.fault(Expected::NonEmptyArray)),
            entries => Ok(entries),
        }
    }

    /// Those of one with something in it that only the length of a message bounds.
    pub(super) fn all_entries(&self) -> Result<Vec<Nested<'a>>, ArgumentFault> {
        match self.listed(Expected::NonEmptyArray)? {
            entries if entries.is_empty() => Err(self.fault(Expected::NonEmptyArray)),
            entries => Ok(entries),
        }
    }

    /// Those of a list of texts, at least and at most so many.
    pub(super) fn texts(
        &self,
        least: usize,
        most: usize,
    ) -> Result<Vec<Nested<'a>>, ArgumentFault> {
        let expected = Expected::Texts(least, most);
        match self.listed(expected)? {
            entries if (least..=most).contains(&entries.len()) => Ok(entries),
            entries => Err(self.other(expected, Came::Entries(entries.len()))),
        }
    }

    /// Text of any kind.
    pub(super) fn any_text(&self) -> Result<&'a str, ArgumentFault> {
        match self.value {
            Some(Value::String(text)) => Ok(text),
            _ => Err(self.fault(Expected::Text)),
        }
    }

    /// Text of at most so many bytes.
    pub(super) fn bounded(&self, most: usize) -> Result<&'a str, ArgumentFault> {
        match self.any_text()? {
            text if text.len() > most => {
                Err(self.other(Expected::TextOfAtMost(most), Came::Bytes(text.len())))
            }
            text => Ok(text),
        }
    }

    /// Text of at most so many bytes, with something in it.
    pub(super) fn text(&self, most: usize) -> Result<&'a str, ArgumentFault> {
        match self.bounded(most)? {
            text if text.trim().is_empty() => Err(self.fault(Expected::NonBlankText)),
            text => Ok(text),
        }
    }

    /// Text that goes to the kernel: some of it, no NUL in it, and no more than it takes.
    pub(super) fn for_kernel(&self, most: usize) -> Result<&'a str, ArgumentFault> {
        match self.bounded(most)?.find('\0') {
            Some(byte) => Err(self.other(Expected::TextWithoutNul, Came::NulAt(byte))),
            None => self.text(most),
        }
    }

    /// Whether something is asked for.
    pub(super) fn flag(&self) -> Result<bool, ArgumentFault> {
        match self.value {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.fault(Expected::Flag)),
        }
    }

    /// That there is no text to replace, which the argument of that name must have.
    pub(super) fn no_old_text(&self, name: &'static str) -> ArgumentFault {
        ArgumentFault::NoOldText { place: self.place.clone(), name }
    }

    /// That another value is expected here.
    pub(super) fn fault(&self, expected: Expected) -> ArgumentFault {
        self.other(expected, self.value.map_or(Came::Nothing, Came::value))
    }

    fn other(&self, expected: Expected, came: Came) -> ArgumentFault {
        ArgumentFault::Inside { place: self.place.clone(), expected, came }
    }

    /// That the same stands at an earlier place.
    pub(super) fn repeats(&self, first: &Nested<'_>) -> ArgumentFault {
        let came = self.value.map_or(Came::Nothing, Came::value);
        ArgumentFault::Repeated { place: self.place.clone(), first: first.place.clone(), came }
    }
}
