//! Skills: instructions in files, found by name below a few roots.
//!
//! ```text
//!  roots, the first claim wins ─▶ tree: what may be opened below a root ─▶ header: what stands before the text ─▶ Catalogue, SkillText
//! ```
//!
//! A skill is `<root>/<name>/SKILL.md` or, where a root has such, `<root>/<name>.md`, which comes first; its name is that of its
//! folder or file. Who writes skills may be anybody who writes to a workspace, so nothing here follows a link out of a root,
//! waits for a FIFO, opens a device, or reads without a bound; and a header that is faulty costs its skill nothing but a word
//! about it. Values in, values out: no sandbox, no wire, no words for the user. Calls block.

mod catalogue;
mod header;
mod read;
mod tree;

pub use catalogue::{Catalogue, Skill, Unreadable, list};
pub use header::Header;
pub use read::{SkillError, SkillText, read};
pub use tree::{Flat, Root};

/// Longest file of a skill in bytes.
pub const MOST_BYTES: u64 = 1 << 20;

/// Skills of a catalogue.
pub const MOST_SKILLS: usize = 200;

/// Longest name of a skill in characters.
const MOST_NAME: usize = 100;

/// Whether a text can be the name of a skill: a name and no path, and nothing in it that a list could not show.
fn is_name(name: &str) -> bool {
    let is_shown = |sign: char| !sign.is_control() && sign != '/';
    !name.trim().is_empty()
        && !name.starts_with('.')
        && name.chars().count() <= MOST_NAME
        && name.chars().all(is_shown)
}
