//! Presets: the caches of well-known tools, so that a build may fill them without a wider mode.
//!
//! Which folders they are is told by the tools' own variables, else by their defaults. Nothing is ever created, and a
//! preset never opens what a tool reads as its configuration or credentials (`~/.cargo/config.toml`, `~/.npmrc`,
//! `~/.gradle/init.d`): who can write there decides what runs later, outside.

mod table;

use crate::named::named;

pub use table::folders;

named! {
    /// A tool whose caches can be opened.
    pub enum Preset {
        /// Rust's package manager.
        Cargo = "cargo",
        /// Node's package manager.
        Npm = "npm",
        /// Python's package installer.
        Pip = "pip",
        /// Python's package manager uv.
        Uv = "uv",
        /// The Go toolchain.
        Go = "go",
        /// The Gradle build tool.
        Gradle = "gradle",
        /// The compiler cache.
        Ccache = "ccache",
        /// The Bazel build tool.
        Bazel = "bazel",
    }
}

/// One folder of a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetFolder {
    /// Its absolute path; whether it is there is not looked at.
    pub path: String,
    /// What the tool keeps there.
    pub reason: &'static str,
}
