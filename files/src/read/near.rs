//! Close names for a path that leads nowhere, from one bounded look into the deepest folder of it that exists.

use std::path::{Path, PathBuf};

use crate::fault::{Fault, FaultKind};

/// Names that are looked at.
const LOOKED_AT: usize = 10_000;
/// Names that are told.
const TOLD: usize = 3;
/// Longer names are compared by their beginning.
const COMPARED: usize = 64;

/// The fault for a path that leads nowhere.
pub(crate) fn missing(path: &Path) -> Fault {
    Fault::new(path, FaultKind::Missing { near: near(path) })
}

fn near(path: &Path) -> Vec<PathBuf> {
    for folder in path.ancestors().skip(1) {
        let Ok(rest) = path.strip_prefix(folder) else {
            return Vec::new();
        };
        let Some(wanted) = rest.components().next().map(|part| part.as_os_str()) else {
            return Vec::new();
        };
        // The component may be a file that the path goes on through: that file is the nearest name then.
        let through = folder.join(wanted);
        if rest.components().nth(1).is_some() && through.is_file() {
            return vec![through];
        }
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        let wanted = wanted.to_string_lossy().into_owned();
        let mut close: Vec<(usize, PathBuf)> = entries
            .take(LOOKED_AT)
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                let far = distance(&wanted, &name.to_string_lossy())?;
                Some((far, folder.join(name)))
            })
            .collect();
        close.sort();
        close.truncate(TOLD);
        return close.into_iter().map(|(_, path)| path).collect();
    }
    Vec::new()
}

/// How far two names are from each other, if they are close: case and ends are little, else by edits.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let fold = |text: &str| -> Vec<char> {
        text.chars().take(COMPARED).flat_map(char::to_lowercase).collect()
    };
    let (wanted, name) = (fold(wanted), fold(name));
    let stem = |name: &[char]| name.iter().rposition(|sign| *sign == '.').unwrap_or(name.len());
    let (wanted_stem, name_stem) = (stem(&wanted), stem(&name));
    if wanted_stem > 0 && wanted[..wanted_stem] == name[..name_stem] {
        return Some(1);
    }
    let edits = edits(&wanted, &name);
    // A third of the longer name, at least two: `a.py` for `b.py`, but not any short name for any other.
    (edits <= (wanted.len().max(name.len()) / 3).max(1)).then_some(edits)
}

/// The Levenshtein distance.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, sign) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for place in 0..other.len() {
            let change = diagonal + usize::from(*sign != other[place]);
            diagonal = row[place + 1];
            row[place + 1] = change.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_close() {
        assert_eq!(distance("b.py", "a.py"), Some(1));
        assert_eq!(distance("Readme.txt", "README.md"), Some(1));
        assert_eq!(distance("settings.json", "setings.json"), Some(1));
        assert_eq!(distance("main.rs", "Cargo.toml"), None);
        assert_eq!(edits(&['a', 'b'], &[]), 2);
    }
}
