//! `brattice doctor`: the layers that this machine has, and in the daemon's own words why one is not wholly on, what
//! that costs and how to close the gap.

use std::process::ExitCode;

use brattice_protocol::hello::Peer;
use brattice_protocol::{Layer, LayerName, LayerReport, LayerState};
use serde::Serialize;

use crate::cli::plain::plain;
use crate::cli::terminal::Style;
use crate::cli::{Context, Failure};

/// What `doctor` tells.
#[derive(Serialize)]
struct Diagnosis<'a> {
    daemon: &'a Peer,
    socket: String,
    sandbox: &'a LayerReport,
    /// Whether the confined modes can run.
    confined_modes: bool,
}

/// Asks the daemon and shows what it can enforce.
pub(crate) async fn doctor(context: &Context) -> Result<ExitCode, Failure> {
    let client = context.agent().await?;
    let sandbox = &client.hello().sandbox;
    let confined_modes = sandbox.missing().is_none();
    let diagnosis = Diagnosis {
        daemon: &client.hello().daemon,
        socket: context.locations.socket.display().to_string(),
        sandbox,
        confined_modes,
    };
    let shown = context.show("the diagnosis", &diagnosis, |style| describe(&diagnosis, style))?;
    Ok(if confined_modes { shown } else { ExitCode::FAILURE })
}

fn describe(diagnosis: &Diagnosis<'_>, style: Style) -> String {
    let Diagnosis { daemon, socket, sandbox, .. } = diagnosis;
    let at = plain(&format!("{} {} at {socket}", daemon.name, daemon.version));
    let mut text = format!("{at}\n");
    text.push_str(&match sandbox.landlock_abi {
        0 => "this kernel has no Landlock\n\n".to_owned(),
        abi => format!("this kernel has Landlock ABI {abi}\n\n"),
    });
    for layer in &sandbox.layers {
        text.push_str(&paragraph(layer, style));
    }
    text.push_str(&match sandbox.missing() {
        None => style.green("\ncommands can run in read-only and workspace-write\n"),
        Some(layer) => style.red(&format!(
            "\ncommands cannot run in read-only and workspace-write: {} is missing\n",
            name(layer.name)
        )),
    });
    text
}

fn paragraph(layer: &Layer, style: Style) -> String {
    let state = match layer.state {
        LayerState::On => style.green("on"),
        LayerState::Partial => style.yellow("partial"),
        LayerState::Off => style.yellow("off"),
        LayerState::Missing => style.red("missing"),
    };
    let mut text = format!("{:<16} {state}\n", name(layer.name));
    if let Some(reason) = &layer.reason {
        text.push_str(&format!("  {}\n", plain(reason)));
    }
    text
}

/// A layer's name, as the wire has it.
fn name(layer: LayerName) -> &'static str {
    match layer {
        LayerName::Privileges => "privileges",
        LayerName::Landlock => "landlock",
        LayerName::LandlockScopes => "landlock-scopes",
        LayerName::Seccomp => "seccomp",
        LayerName::Observer => "observer",
        LayerName::Namespaces => "namespaces",
        LayerName::Cgroup => "cgroup",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(layers: Vec<Layer>) -> String {
        let sandbox = LayerReport { landlock_abi: 0, layers };
        let daemon = Peer { name: "bratticed".into(), version: "1".into() };
        let diagnosis = Diagnosis {
            daemon: &daemon,
            socket: "/s\u{1b}".into(),
            sandbox: &sandbox,
            confined_modes: sandbox.missing().is_none(),
        };
        describe(&diagnosis, Style::Plain)
    }

    #[test]
    fn a_gap_is_told_in_the_daemons_words() {
        assert_eq!(
            told(vec![
                Layer::on(LayerName::Seccomp),
                Layer::with(LayerName::Landlock, LayerState::Missing, "ENOSYS; use another kernel"),
            ]),
            "bratticed 1 at /s\\u{1b}\nthis kernel has no Landlock\n\nseccomp          on\n\
             landlock         missing\n  ENOSYS; use another kernel\n\n\
             commands cannot run in read-only and workspace-write: landlock is missing\n"
        );
    }

    #[test]
    fn a_layer_that_no_mode_needs_stops_nothing() {
        assert_eq!(
            told(vec![Layer::with(LayerName::Cgroup, LayerState::Off, "nothing is limited")]),
            "bratticed 1 at /s\\u{1b}\nthis kernel has no Landlock\n\ncgroup           off\n  \
             nothing is limited\n\ncommands can run in read-only and workspace-write\n"
        );
    }

    #[test]
    fn names_are_those_of_the_wire() {
        let all = [
            LayerName::Privileges,
            LayerName::Landlock,
            LayerName::LandlockScopes,
            LayerName::Seccomp,
            LayerName::Observer,
            LayerName::Namespaces,
            LayerName::Cgroup,
        ];
        for layer in all {
            assert_eq!(serde_json::to_value(layer).unwrap(), name(layer));
        }
    }
}
