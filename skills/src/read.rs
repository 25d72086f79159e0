//! One skill, by its name.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalogue::{FILE, SUFFIX, list};
use crate::header::{self, Header};
use crate::tree::{FileFault, Flat, Root, Tree};
use crate::{MOST_BYTES, is_name};

/// A skill's instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillText {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// The folder that its instructions speak of: its own, or that of its file.
    pub folder: String,
    /// All of the file, with U+FFFD for what is no UTF-8.
    pub text: String,
    /// How much of it comes before the instructions.
    pub body: usize,
    /// What its header says.
    pub header: Header,
}

impl SkillText {
    /// The instructions.
    pub fn instructions(&self) -> &str {
        self.text.get(self.body..).unwrap_or(&self.text)
    }
}

/// Why there is no such skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkillError {
    /// No root has it.
    Unknown {
        /// The names there are.
        known: Vec<String>,
    },
    /// It cannot be read.
    Unreadable {
        /// Its file.
        path: String,
        /// Why, in words.
        why: String,
    },
}

/// The skill of that name, as [`list`] finds it.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn read(roots: &[Root], name: &str) -> Result<SkillText, SkillError> {
    if is_name(name) {
        for root in roots {
            if let Some(found) = read_below(root, name) {
                return found;
            }
        }
    }
    let known = list(roots).skills.into_iter().map(|skill| skill.name).collect();
    Err(SkillError::Unknown { known })
}

/// It in this root; none where the root does not have it.
fn read_below(root: &Root, name: &str) -> Option<Result<SkillText, SkillError>> {
    let tree = Tree::open(root).ok()?;
    let flat = (root.flat == Flat::Skills).then(|| PathBuf::from(format!("{name}{SUFFIX}")));
    let files = flat.into_iter().chain([Path::new(name).join(FILE)]);
    for file in files {
        let path = tree.path().join(&file);
        match text(&tree, &file) {
            Ok(text) => return Some(Ok(skill(name, &path, text))),
            Err(FileFault::Missing) => {}
            Err(fault) => {
                let path = path.to_string_lossy().into_owned();
                return Some(Err(SkillError::Unreadable { path, why: fault.to_string() }));
            }
        }
    }
    None
}

fn text(tree: &Tree, file: &Path) -> Result<String, FileFault> {
    let (opened, _) = tree.file(file)?;
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        // It has grown since it was opened.
        length if length > MOST_BYTES => Err(FileFault::TooLarge(length)),
        _ => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn skill(name: &str, path: &Path, text: String) -> SkillText {
    let parts = header::parse(&text);
    let (header, body) = (parts.header, text.len() - parts.body.len());
    let folder = path.parent().unwrap_or(path).to_string_lossy().into_owned();
    let (name, path) = (name.to_owned(), path.to_string_lossy().into_owned());
    SkillText { name, path, folder, text, body, header }
}
