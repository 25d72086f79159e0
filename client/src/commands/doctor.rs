//! `brattice doctor`: the layers that this machine has, what each gap costs, and how to close it.

use std::process::ExitCode;

use brattice_protocol::hello::Peer;
use brattice_protocol::{Layer, LayerName, LayerReport, LayerState};
use serde::Serialize;

use crate::cli::terminal::Style;
use crate::cli::{Context, Failure};

/// What `doctor` tells.
#[derive(Serialize)]
struct Diagnosis<'a> {
    daemon: &'a Peer,
    socket: String,
    sandbox: &'a LayerReport,
    gaps: Vec<Gap>,
    /// Whether the confined modes can run.
    confined_modes: bool,
}

/// A layer that is not wholly on.
#[derive(Serialize)]
struct Gap {
    layer: LayerName,
    state: LayerState,
    costs: &'static str,
    remedy: &'static str,
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
        gaps: sandbox.layers.iter().filter_map(gap).collect(),
        confined_modes,
    };
    let shown = context.show("the diagnosis", &diagnosis, |style| describe(&diagnosis, style))?;
    Ok(if confined_modes { shown } else { ExitCode::FAILURE })
}

fn gap(layer: &Layer) -> Option<Gap> {
    let Facts { costs, remedy, .. } = facts(layer.name);
    match layer.state {
        LayerState::On => None,
        LayerState::Partial | LayerState::Off | LayerState::Missing => {
            Some(Gap { layer: layer.name, state: layer.state, costs, remedy })
        }
    }
}

fn describe(diagnosis: &Diagnosis<'_>, style: Style) -> String {
    let Diagnosis { daemon, socket, sandbox, confined_modes, .. } = diagnosis;
    let mut text = format!("{} {} at {socket}\n", daemon.name, daemon.version);
    text.push_str(&match sandbox.landlock_abi {
        0 => "this kernel has no Landlock\n\n".to_owned(),
        abi => format!("this kernel has Landlock ABI {abi}\n\n"),
    });
    for layer in &sandbox.layers {
        text.push_str(&paragraph(layer, style));
    }
    text.push_str(&if *confined_modes {
        style.green("\ncommands can run in read-only and workspace-write\n")
    } else {
        style.red("\ncommands cannot run in read-only and workspace-write: a layer is missing\n")
    });
    text
}

fn paragraph(layer: &Layer, style: Style) -> String {
    let facts = facts(layer.name);
    let state = match layer.state {
        LayerState::On => style.green("on"),
        LayerState::Partial => style.yellow("partial"),
        LayerState::Off => style.yellow("off"),
        LayerState::Missing => style.red("missing"),
    };
    let mut text = format!("{:<16} {state}\n", facts.name);
    if let Some(reason) = &layer.reason {
        text.push_str(&format!("  why:   {reason}\n"));
    }
    if layer.state != LayerState::On {
        text.push_str(&format!("  costs: {}\n  to do: {}\n", facts.costs, facts.remedy));
    }
    text
}

/// What is to be said of a layer that is not wholly on.
struct Facts {
    name: &'static str,
    costs: &'static str,
    remedy: &'static str,
}

fn facts(layer: LayerName) -> Facts {
    match layer {
        LayerName::Privileges => Facts {
            name: "privileges",
            costs: "commands could gain rights through set-user-id programs",
            remedy: "allow prctl(PR_SET_NO_NEW_PRIVS) to the daemon, for example in its container's profile",
        },
        LayerName::Landlock => Facts {
            name: "landlock",
            costs: "writes cannot be kept inside the workspace, so confined modes cannot run",
            remedy: "use Linux 6.2 or newer with landlock in the kernel's lsm= list, and a container profile \
                     that lets the landlock system calls through",
        },
        LayerName::LandlockScopes => Facts {
            name: "landlock-scopes",
            costs: "commands can signal other processes of the same user and reach their abstract sockets",
            remedy: "use Linux 6.12 or newer (Landlock ABI 6)",
        },
        LayerName::Seccomp => Facts {
            name: "seccomp",
            costs: "system calls that Landlock does not judge stay open, so confined modes cannot run",
            remedy: "use a kernel with CONFIG_SECCOMP_FILTER, and let the daemon install filters",
        },
        LayerName::Observer => Facts {
            name: "observer",
            costs: "denials are not recorded, and commands can make no Unix sockets other than stream pairs",
            remedy: "nothing on this machine: a later version of Brattice brings it",
        },
        LayerName::Namespaces => Facts {
            name: "namespaces",
            costs: "/tmp is refused instead of private, /dev/shm is the host's, .git/hooks is not protected, \
                    and network \"loopback\" is refused",
            remedy: "nothing on this machine: a later version of Brattice brings it",
        },
        LayerName::Cgroup => Facts {
            name: "cgroup",
            costs: "memory and processes are limited per process or user, not per command",
            remedy: "nothing on this machine: a later version of Brattice brings it",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_tells_why_and_what_it_costs_and_what_to_do() {
        let sandbox = LayerReport {
            landlock_abi: 0,
            layers: vec![
                Layer::on(LayerName::Seccomp),
                Layer::with(LayerName::Landlock, LayerState::Missing, "ENOSYS"),
            ],
        };
        let daemon = Peer { name: "bratticed".into(), version: "1".into() };
        let diagnosis = Diagnosis {
            daemon: &daemon,
            socket: "/s".into(),
            gaps: sandbox.layers.iter().filter_map(gap).collect(),
            sandbox: &sandbox,
            confined_modes: false,
        };
        let Facts { costs, remedy, .. } = facts(LayerName::Landlock);
        assert_eq!(
            describe(&diagnosis, Style::Plain),
            format!(
                "bratticed 1 at /s\nthis kernel has no Landlock\n\nseccomp          on\n\
                 landlock         missing\n  why:   ENOSYS\n  costs: {costs}\n  to do: {remedy}\n\n\
                 commands cannot run in read-only and workspace-write: a layer is missing\n"
            )
        );
        let states: Vec<_> = diagnosis.gaps.iter().map(|gap| (gap.layer, gap.state)).collect();
        assert_eq!(states, [(LayerName::Landlock, LayerState::Missing)]);
    }
}
