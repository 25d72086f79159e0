//! The groups of figures, and what they share: how much is measured, who calls, what a spread is, how a line looks.

pub(crate) mod background;
pub(crate) mod commands;
mod connection;
pub(crate) mod files;
pub(crate) mod finished;
pub(crate) mod idle;
pub(crate) mod observer;
mod role;
mod scale;
mod spread;

pub(crate) use scale::Scale;

/// Prints a line of the table.
fn row(figure: &str, value: impl std::fmt::Display) {
    println!("| {figure} | {value} |");
}

/// How many threads ran or wanted to on average: over one minute, five and fifteen (proc_loadavg(5)).
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").expect("the kernel tells its load");
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
