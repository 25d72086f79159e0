//! Real programs, confined in `workspace-write`: each does its work as it would outside, without one false denial.
//! They need the programs themselves, and package registries that their ordinary clients reach.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod cargo;
mod git;
mod interrupted;
mod languages;
mod tools;

use brattice_tests::{World, WorldBuilder};

/// A world that keeps what package clients need to reach their registries here.
fn builder() -> WorldBuilder {
    let is_kept = |name: &str| {
        let name = name.to_ascii_uppercase();
        name.ends_with("_PROXY")
            || name.starts_with("PIP_")
            || name.starts_with("NPM_CONFIG_")
            || name.starts_with("SSL_CERT_")
    };
    let kept = std::env::vars().filter(|(name, _)| is_kept(name));
    let builder =
        kept.fold(World::builder(), |builder, (name, value)| builder.variable(&name, &value));
    let settings = std::env::var("HOME").map(|home| format!("{home}/.npmrc")).unwrap_or_default();
    match std::fs::read(&settings) {
        Ok(_) => builder.variable("NPM_CONFIG_USERCONFIG", &settings),
        Err(_) => builder,
    }
}

fn world() -> World {
    builder().start()
}
