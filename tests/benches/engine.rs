//! The engine's figures, each as a ratio within one interleaved run where there is something to compare with. Prints
//! the table that ARCHITECTURE.md holds; how busy the machine was goes to standard error.
//!
//! `cargo build --release --workspace && cargo bench -p brattice-tests --bench engine`
//!
//! Names of groups after `--` measure only those, and `BRATTICE_BENCH_QUICK=1` a thirtieth of everything, which says
//! that a figure can be had, not what it is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot go on says why and ends"
)]

mod figures;

use figures::{Scale, background, commands, files, finished, idle, observer};

/// Figures by the name by which they can be chosen.
type Group = (&'static str, fn(Scale));

const GROUPS: [Group; 6] = [
    ("commands", commands::measure),
    ("observer", observer::measure),
    ("files", files::measure),
    ("background", background::measure),
    ("finished", finished::measure),
    ("idle", idle::measure),
];

fn main() {
    let scale = Scale::of_environment();
    // Cargo adds `--bench`.
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for name in &chosen {
        let is_known = GROUPS.iter().any(|(group, _)| group == name);
        assert!(is_known, "no group {name}: {:?}", GROUPS.map(|(group, _)| group));
    }
    println!("| figure | value |\n|---|---|");
    for (name, measure) in GROUPS {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            eprintln!("{name}: load before {}", figures::load());
            measure(scale);
        }
    }
    eprintln!("load after {}", figures::load());
}
