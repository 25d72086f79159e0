//! Values of keys: each says what it expects where something else stands.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::quantity;

/// One of a few words, such as a mode.
pub(super) struct Word<T>(pub(super) T);

/// A whole number within bounds, both included.
pub(super) struct Count<const MIN: u32, const MAX: u32>(pub(super) u32);

/// A number of bytes of at least `MIN`, written as `"64MiB"`.
pub(super) struct Size<const MIN: u64>(pub(super) u64);

/// A duration from a millisecond to a year, written as `"90s"`.
pub(super) struct Span(pub(super) Duration);

/// A folder by its absolute path, or below the home folder by `~`.
pub(super) struct Folder(String);

const LONGEST_SPAN: Duration = Duration::from_secs(8760 * 3600);

impl Folder {
    /// The absolute path, for a user with this home.
    pub(super) fn resolved(&self, home: &str) -> String {
        match self.0.strip_prefix('~') {
            Some("") => home.to_owned(),
            Some(rest) => format!("{}{rest}", home.trim_end_matches('/')),
            None => self.0.clone(),
        }
    }
}

/// What reads a `T` from a TOML value.
struct Reader<T>(PhantomData<T>);

impl<T> Reader<T> {
    fn new() -> Self {
        Reader(PhantomData)
    }
}

impl<T: DeserializeOwned> Visitor<'_> for Reader<Word<T>> {
    type Value = Word<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(Word)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader::<Word<T>>::new())
    }
}

impl<const MIN: u32, const MAX: u32> Visitor<'_> for Reader<Count<MIN, MAX>> {
    type Value = Count<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let count = u32::try_from(number).ok().filter(|count| (MIN..=MAX).contains(count));
        count.map(Count).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Count<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_i64(Reader::<Count<MIN, MAX>>::new())
    }
}

impl<const MIN: u64> Visitor<'_> for Reader<Size<MIN>> {
    type Value = Size<MIN>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = quantity::size_in_words(MIN);
        write!(f, "a size of at least {least}, such as \"64MiB\" or \"4GiB\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let size = quantity::size(text).filter(|size| *size >= MIN);
        size.map(Size).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de, const MIN: u64> Deserialize<'de> for Size<MIN> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader::<Size<MIN>>::new())
    }
}

impl Visitor<'_> for Reader<Span> {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration from 1ms to 8760h, such as \"500ms\", \"90s\" or \"1h\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        let span = quantity::duration(text).filter(|span| !span.is_zero() && *span <= LONGEST_SPAN);
        span.map(Span).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader::<Span>::new())
    }
}

impl Visitor<'_> for Reader<Folder> {
    type Value = Folder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an absolute path, or one that begins with ~/")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Folder, E> {
        let is_folder = (text.starts_with('/') || text.starts_with("~/") || text == "~")
            && !text.contains('\0');
        match is_folder {
            true => Ok(Folder(text.to_owned())),
            false => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Folder {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader::<Folder>::new())
    }
}
