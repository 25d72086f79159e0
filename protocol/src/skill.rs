//! The facts of the tools for skills. The instructions are the result's text.

use serde::{Deserialize, Serialize};

/// A skill that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillRead {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// The folder that its instructions speak of.
    pub folder: String,
    /// How long the file is; the text may be cut, and says so.
    pub bytes: u64,
    /// What its header says about tools.
    #[serde(default)]
    pub restrictions: Vec<Restriction>,
    /// What is wrong with its header.
    #[serde(default)]
    pub faults: Vec<String>,
}

/// Something that a skill's header says about tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// As which, such as `allowed-tools`.
    pub key: String,
    /// What, on one line.
    pub value: String,
}
