//! `[environment]`: names, patterns of names, and what is set.

use crate::environment::is_managed;

use super::reader::Item;

/// A variable's name, or a pattern of names with `*`.
pub(super) fn pattern(item: &Item<'_, '_>) -> Option<String> {
    const EXPECTED: &str = "the name of a variable, or a pattern such as \"*TOKEN*\"";
    let text = item.text(EXPECTED)?;
    let is_fit = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*'));
    if is_fit { Some(text.to_owned()) } else { item.refuse(EXPECTED) }
}

/// Variables and what each is set to.
pub(super) fn assignments(item: &Item<'_, '_>) -> Option<Vec<(String, String)>> {
    const NAME: &str = "the name of a variable that Brattice does not set itself";
    const VALUE: &str = "a text without NUL";
    let entries = item.entries("variables and their values, such as { CI = \"1\" }")?;
    let read: Vec<Option<(String, String)>> = entries
        .into_iter()
        .map(|(name, item)| {
            let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let starts_with_digit = name.starts_with(|sign: char| sign.is_ascii_digit());
            let is_name = !name.is_empty() && name.bytes().all(letters) && !starts_with_digit;
            if !is_name || is_managed(name) {
                return item.refuse(NAME);
            }
            match item.text(VALUE)? {
                text if text.contains('\0') => item.refuse(VALUE),
                text => Some((name.to_owned(), text.to_owned())),
            }
        })
        .collect();
    read.into_iter().collect()
}
