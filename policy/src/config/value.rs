//! Values of keys: each says what it expects where something else stands.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use toml::de::DeValue;

use crate::named::Named;

use super::quantity;
use super::reader::Item;

/// One of a few words, such as a mode.
pub(super) fn word<T: Named>(item: &Item<'_, '_>) -> Option<T> {
    let names: Vec<String> = T::NAMED.iter().map(|value| format!("{:?}", value.name())).collect();
    let expected = format!("one of {}", names.join(", "));
    let text = item.text(&expected)?;
    T::by_name(text).or_else(|| item.refuse(expected))
}

/// A whole number within bounds, both included.
pub(super) fn count<const MIN: u32, const MAX: u32>(item: &Item<'_, '_>) -> Option<u32> {
    let expected = || format!("a whole number from {MIN} to {MAX}");
    let DeValue::Integer(number) = item.value.get_ref() else {
        return item.refuse(expected());
    };
    let count = u32::from_str_radix(number.as_str(), number.radix()).ok();
    count.filter(|count| (MIN..=MAX).contains(count)).or_else(|| item.refuse(expected()))
}

/// A number of bytes of at least `MIN`, written as `"64MiB"`.
pub(super) fn size<const MIN: u64>(item: &Item<'_, '_>) -> Option<u64> {
    let least = quantity::size_in_words(MIN);
    let expected = format!("a size of at least {least}, such as \"64MiB\" or \"4GiB\"");
    let size = quantity::size(item.text(&expected)?).filter(|size| *size >= MIN);
    size.or_else(|| item.refuse(expected))
}

/// The longest time, a year, in seconds.
pub(super) const YEAR: u64 = 8760 * 3600;

/// A duration from a millisecond to `MOST` seconds, written as `"90s"`.
pub(super) fn span<const MOST: u64>(item: &Item<'_, '_>) -> Option<Duration> {
    let most = Duration::from_secs(MOST);
    let expected = format!(
        "a duration from 1ms to {}, such as \"500ms\", \"90s\" or \"2m\"",
        quantity::duration_in_words(most)
    );
    let span = quantity::duration(item.text(&expected)?);
    span.filter(|span| !span.is_zero() && *span <= most).or_else(|| item.refuse(expected))
}

/// `true` or `false`.
pub(super) fn truth(item: &Item<'_, '_>) -> Option<bool> {
    match item.value.get_ref() {
        DeValue::Boolean(value) => Some(*value),
        _ => item.refuse("true or false"),
    }
}

/// A text that is not empty and holds no NUL.
pub(super) fn text(item: &Item<'_, '_>) -> Option<String> {
    const EXPECTED: &str = "a text that is not empty";
    let text = item.text(EXPECTED)?;
    match text.is_empty() || text.contains('\0') {
        false => Some(text.to_owned()),
        true => item.refuse(EXPECTED),
    }
}

/// A list of what `read` reads.
pub(super) fn list<V>(
    read: impl Fn(&Item<'_, '_>) -> Option<V>,
) -> impl Fn(&Item<'_, '_>) -> Option<Vec<V>> {
    move |item| {
        let items = item.items("a list, such as [\"…\", \"…\"]")?;
        // Each is read, so that every fault is told.
        let values: Vec<Option<V>> = items.iter().map(&read).collect();
        values.into_iter().collect()
    }
}

/// A path: absolute, or below the home folder by `~`. The absolute one, for a user with this home.
pub(super) fn path(home: &str) -> impl Fn(&Item<'_, '_>) -> Option<String> {
    move |item| {
        const EXPECTED: &str = "an absolute path, or one that begins with ~/";
        let text = item.text(EXPECTED)?;
        let is_path = text.starts_with('/') || text.starts_with("~/") || text == "~";
        if !is_path || text.contains('\0') {
            return item.refuse(EXPECTED);
        }
        Some(match text.strip_prefix('~') {
            Some("") => home.to_owned(),
            Some(rest) => format!("{}{rest}", home.trim_end_matches('/')),
            None => text.to_owned(),
        })
    }
}

/// A path that begins at each writable root, or one as [`path`] has it; without `..`, so that it leads nowhere else. What
/// is returned has no `.` and no doubled slash either, as paths that are compared.
pub(super) fn protected_path(home: &str) -> impl Fn(&Item<'_, '_>) -> Option<String> {
    move |item| {
        const EXPECTED: &str =
            "a path inside of a writable folder, such as \".git/hooks\", without \"..\"";
        let text = item.text(EXPECTED)?;
        let whole = if text.starts_with("~/") { path(home)(item)? } else { text.to_owned() };
        let names = || Path::new(&whole).components();
        let leads_up = names().any(|name| name == Component::ParentDir);
        let is_named = names().any(|name| matches!(name, Component::Normal(_)));
        if !is_named || leads_up || whole.contains('\0') {
            return item.refuse(EXPECTED);
        }
        let path: PathBuf = names().filter(|name| *name != Component::CurDir).collect();
        Some(path.display().to_string())
    }
}

/// An address with its port. Names are compared as URLs spell them, by whoever reads the list; what would be the host of no URL is refused
/// here.
pub(super) fn host_and_port(item: &Item<'_, '_>) -> Option<String> {
    const EXPECTED: &str = "a host and a port, such as \"wiki.example:8080\"";
    let text = item.text(EXPECTED)?;
    let is_fit = text.rsplit_once(':').is_some_and(|(host, port)| {
        let is_address = || {
            let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            inner.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok())
        };
        let is_host = is_name(host) || is_address();
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        is_host && is_port && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if is_fit { Some(text.to_owned()) } else { item.refuse(EXPECTED) }
}

/// Whether a URL may have this host, which is a name or an IPv4 address. One whose last part is a number is read as such an address.
fn is_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_fit = |sign: char| sign.is_alphanumeric() || "-_.".contains(sign);
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal = last.starts_with("0x") || last.starts_with("0X");
    match is_number(last) || is_hexadecimal {
        true => host.parse::<std::net::Ipv4Addr>().is_ok(),
        false => host.split('.').all(|part| !part.is_empty() && part.chars().all(is_fit)),
    }
}
