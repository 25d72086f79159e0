//! Reading a table of TOML key by key: what is there, where it stands, and what is wrong with it.
//!
//! Every fault of a text is collected, so that whoever writes a file sees all of them at once. A value that is at fault
//! counts as not there; nothing of a text with faults is ever used.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, FaultKind, Position};

/// The text that is read, and what is wrong with it so far.
pub(super) struct Text<'t> {
    text: &'t str,
    faults: RefCell<Vec<Fault>>,
}

/// A value and the line on which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed<V> {
    pub(super) value: V,
    pub(super) line: usize,
}

impl<V> Placed<V> {
    /// The same place with another value.
    pub(super) fn map<U>(self, change: impl FnOnce(V) -> U) -> Placed<U> {
        Placed { value: change(self.value), line: self.line }
    }
}

/// A table of the text.
pub(super) struct Section<'t, 'v> {
    text: &'t Text<'t>,
    name: String,
    table: &'v DeTable<'v>,
    known: Vec<&'static str>,
    at: Position,
}

/// A value of the text with the name by which faults call it.
pub(super) struct Item<'t, 'v> {
    pub(super) text: &'t Text<'t>,
    pub(super) key: String,
    pub(super) value: &'v Spanned<DeValue<'v>>,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Text { text, faults: RefCell::default() }
    }

    pub(super) fn position(&self, span: std::ops::Range<usize>) -> Position {
        Position::of(self.text, Some(span))
    }

    pub(super) fn fault(&self, at: Position, kind: FaultKind) {
        self.faults.borrow_mut().push(Fault { at, kind });
    }

    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.faults.into_inner()
    }

    /// The text itself as a table.
    pub(super) fn whole<'v>(&'t self, table: &'v DeTable<'v>) -> Section<'t, 'v> {
        let at = Position { line: 1, column: 1 };
        Section { text: self, name: "the file".to_owned(), table, known: Vec::new(), at }
    }
}

impl<'t, 'v> Section<'t, 'v> {
    /// It may not be there.
    pub(super) fn refuse(&self, kind: FaultKind) {
        self.text.fault(self.at, kind);
    }

    /// Where it stands, as an example of its text is found.
    pub(super) fn line(&self) -> usize {
        self.at.line
    }

    /// Takes note that this is one of its keys, and gives what it has.
    pub(super) fn item(&mut self, key: &'static str) -> Option<Item<'t, 'v>> {
        self.known.push(key);
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        let key = format!("{} {key}", self.name);
        Some(Item { text: self.text, key, value })
    }

    /// Reads a key's value.
    pub(super) fn read<V>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Item<'t, 'v>) -> Option<V>,
    ) -> Option<Placed<V>> {
        let item = self.item(key)?;
        Some(Placed { value: read(&item)?, line: item.at().line })
    }

    /// Reads the value of a key that must be there.
    pub(super) fn need<V>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        read: impl FnOnce(&Item<'t, 'v>) -> Option<V>,
    ) -> Option<V> {
        match self.item(key) {
            Some(item) => read(&item),
            None => {
                let section = self.name.clone();
                self.text.fault(self.at, FaultKind::Missing { key, section, expected });
                None
            }
        }
    }

    /// A table below it, by its name.
    pub(super) fn section(&mut self, key: &'static str) -> Option<Section<'t, 'v>> {
        let mut item = self.item(key)?;
        item.key = format!("[{key}]");
        item.section()
    }

    /// Tables of one name, written `[[key]]`.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Section<'t, 'v>> {
        let Some(mut item) = self.item(key) else { return Vec::new() };
        item.key = format!("[[{key}]]");
        let items = item.items("tables, each written below a line [[rule]]").unwrap_or_default();
        items.into_iter().filter_map(Item::section).collect()
    }

    /// Every key that nothing asked for is a fault.
    pub(super) fn end(self) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if self.known.contains(&key) {
                continue;
            }
            let kind = FaultKind::UnknownKey {
                key: key.to_owned(),
                section: self.name.clone(),
                known: self.known.join(", "),
            };
            self.text.fault(self.text.position(name.span()), kind);
        }
    }
}

impl<'t, 'v> Item<'t, 'v> {
    /// Where it stands.
    pub(super) fn at(&self) -> Position {
        self.text.position(self.value.span())
    }

    /// It is not what its key takes.
    pub(super) fn refuse<V>(&self, expected: impl Into<String>) -> Option<V> {
        let (key, expected) = (self.key.clone(), expected.into());
        let came = told(self.value.get_ref());
        self.text.fault(self.at(), FaultKind::Value { key, expected, came });
        None
    }

    /// It as a text.
    pub(super) fn text(&self, expected: &str) -> Option<&'v str> {
        match self.value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.refuse(expected),
        }
    }

    /// It as a list of what it holds.
    pub(super) fn items(&self, expected: &str) -> Option<Vec<Item<'t, 'v>>> {
        let DeValue::Array(values) = self.value.get_ref() else {
            return self.refuse(expected);
        };
        let item = |value| Item { text: self.text, key: self.key.clone(), value };
        Some(values.iter().map(item).collect())
    }

    /// It as a table.
    pub(super) fn section(self) -> Option<Section<'t, 'v>> {
        let at = self.at();
        match self.value.get_ref() {
            DeValue::Table(table) => {
                Some(Section { text: self.text, name: self.key, table, known: Vec::new(), at })
            }
            _ => self.refuse("a table"),
        }
    }

    /// It as a table of any keys.
    pub(super) fn entries(&self, expected: &str) -> Option<Vec<(&'v str, Item<'t, 'v>)>> {
        let DeValue::Table(table) = self.value.get_ref() else {
            return self.refuse(expected);
        };
        let entry = |(name, value): (&'v Spanned<toml::de::DeString<'v>>, _)| {
            let name: &'v str = name.get_ref();
            let key = format!("{} {name}", self.key);
            (name, Item { text: self.text, key, value })
        };
        Some(table.iter().map(entry).collect())
    }
}

/// How much of a value a fault repeats, in characters.
const REPEATED: usize = 60;

/// A value in words.
fn told(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() > REPEATED => {
            let start: String = text.chars().take(REPEATED).collect();
            format!("a text that begins with {start:?}")
        }
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
