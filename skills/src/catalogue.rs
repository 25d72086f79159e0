//! Which skills there are.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::header::{self, Header};
use crate::tree::{FileFault, Flat, Root, Tree};
use crate::{MOST_SKILLS, is_name};

/// The file of a skill in a folder of its own.
pub(crate) const FILE: &str = "SKILL.md";

/// What a name of a file ends with that is a skill.
pub(crate) const SUFFIX: &str = ".md";

/// How much of a file is read for its header.
const HEAD: u64 = 66 << 10;

/// Entries of a root that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// The skills of some roots, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Those that can be read, sorted.
    pub skills: Vec<Skill>,
    /// What has the place of a skill and is none.
    pub unreadable: Vec<Unreadable>,
    /// How many more there are than a catalogue holds.
    pub omitted: usize,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// What its header says.
    pub header: Header,
}

/// Something that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// Its path.
    pub path: String,
    /// Why, in words.
    pub why: String,
}

/// The skills of these roots. A name is its first root's, a file's before a folder's.
pub fn list(roots: &[Root]) -> Catalogue {
    let mut claimed: BTreeMap<String, Result<Skill, Unreadable>> = BTreeMap::new();
    let mut unreadable = Vec::new();
    for root in roots {
        let tree = match Tree::open(root) {
            Ok(tree) => tree,
            Err(FileFault::Missing) => continue,
            Err(fault) => {
                unreadable.push(unreadable_at(&root.path, &fault));
                continue;
            }
        };
        for (name, file) in candidates(&tree, root.flat) {
            if claimed.contains_key(&name) {
                continue;
            }
            match skill(&tree, &name, &file) {
                Ok(skill) => drop(claimed.insert(name, Ok(skill))),
                // A folder without instructions is none, and claims nothing.
                Err(FileFault::Missing) => {}
                Err(fault) => {
                    let fault = unreadable_at(&tree.path().join(file), &fault);
                    claimed.insert(name, Err(fault));
                }
            }
        }
    }
    let mut catalogue = Catalogue { unreadable, ..Catalogue::default() };
    for found in claimed.into_values() {
        match found {
            Ok(skill) if catalogue.skills.len() < MOST_SKILLS => catalogue.skills.push(skill),
            Ok(_) => catalogue.omitted += 1,
            Err(fault) => catalogue.unreadable.push(fault),
        }
    }
    catalogue
}

fn unreadable_at(path: &Path, fault: &FileFault) -> Unreadable {
    Unreadable { path: path.to_string_lossy().into_owned(), why: fault.to_string() }
}

/// What may be skills, a file before a folder of the same name.
fn candidates(tree: &Tree, flat: Flat) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(tree.path()) else { return Vec::new() };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in entries.flatten().take(MOST_ENTRIES) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        match name.strip_suffix(SUFFIX) {
            Some(stem) if flat == Flat::Skills && is_name(stem) => {
                files.push((stem.to_owned(), PathBuf::from(&name)));
            }
            _ if is_name(&name) => folders.push((name.clone(), Path::new(&name).join(FILE))),
            _ => {}
        }
    }
    files.extend(folders);
    files
}

fn skill(tree: &Tree, name: &str, file: &Path) -> Result<Skill, FileFault> {
    let (opened, _) = tree.file(file)?;
    let mut head = Vec::new();
    opened.take(HEAD).read_to_end(&mut head)?;
    let mut header = header::parse(&String::from_utf8_lossy(&head)).header;
    if let Some(other) = header.name.as_ref().filter(|other| *other != name) {
        let fault = format!("its header names it {other:?}");
        header.faults.push(fault);
    }
    let path = tree.path().join(file).to_string_lossy().into_owned();
    Ok(Skill { name: name.to_owned(), path, header })
}
