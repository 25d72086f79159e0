//! Settings as they are told: each with its value in words and where it comes from.

use serde::{Deserialize, Serialize};

/// Where a setting's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// No file says anything.
    BuiltIn,
    /// The operator's file.
    Operator,
    /// The user's file.
    User,
    /// Whoever opened the session.
    Session,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its key, with its section.
    pub key: String,
    /// Its value in words.
    pub value: String,
    /// Where the value comes from.
    pub layer: Layer,
    /// The file and line, as `file:line`, where it stands in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Settings in the order in which they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<Setting>);

impl Settings {
    /// Says what a key has; what was said of it before no longer counts.
    pub fn set(&mut self, setting: Setting) {
        match self.0.iter_mut().find(|known| known.key == setting.key) {
            Some(known) => *known = setting,
            None => self.0.push(setting),
        }
    }

    /// Says one more thing of a key.
    pub fn add(&mut self, setting: Setting) {
        let behind = self.0.iter().rposition(|known| known.key == setting.key);
        self.0.insert(behind.map_or(self.0.len(), |at| at + 1), setting);
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Setting] {
        &self.0
    }
}
