//! The layers that hold a mode's commands, as far as they could be set up.

use brattice_policy::layer::{LayerReport, LayerState};
use brattice_policy::{Mode, Profile};

use crate::exec::{RunError, Supervisor, machine};
use crate::fault::chain;

/// Sets up what holds a mode's commands, ahead of the first one. Where that fails no command of the mode will run, and
/// each says why; the report says so at once. The session itself stands, for what needs no layer.
///
/// # Errors
/// [`RunError::Gone`]: there is no supervisor to set anything up.
pub(super) async fn set_up(
    supervisor: &Supervisor,
    profile: &Profile,
) -> Result<LayerReport, RunError> {
    match supervisor.prepare(profile).await {
        Ok(layers) => Ok(layers),
        Err(RunError::Gone) => Err(RunError::Gone),
        Err(error) => {
            tracing::warn!(mode = %profile.mode, error = %chain(&error), "mode cannot be set up");
            Ok(after(profile.mode, &error))
        }
    }
}

/// The layers of a mode after its set-up or a start failed: what this machine has, and the failed one missing. Where
/// what failed is the process that sets them up, none of them is in force.
pub(super) fn after(mode: Mode, error: &RunError) -> LayerReport {
    let report = machine().report(mode);
    match error {
        RunError::Setup { .. } | RunError::Gone => without(report, error),
        RunError::Start { .. } | RunError::Record { .. } | RunError::Request { .. } => report,
    }
}

fn without(mut report: LayerReport, error: &RunError) -> LayerReport {
    let failed = error.layer();
    let is_needed = |state| matches!(state, LayerState::On | LayerState::Partial);
    for layer in &mut report.layers {
        let is_failed = failed.map_or(is_needed(layer.state), |failed| failed == layer.name);
        // A machine that lacks a layer has said so already, and what to do about it.
        if is_failed && layer.state != LayerState::Missing {
            layer.state = LayerState::Missing;
            layer.reason = Some(chain(error));
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::FailedStep;
    use brattice_policy::layer::{Layer, LayerName};

    fn report() -> LayerReport {
        let off = Layer::with(LayerName::Observer, LayerState::Off, "not in this version");
        let layers = vec![Layer::on(LayerName::Landlock), Layer::on(LayerName::Seccomp), off];
        LayerReport { landlock_abi: 7, layers }
    }

    fn states(step: FailedStep) -> Vec<(LayerState, Option<String>)> {
        let error = RunError::Setup { step, detail: "prctl: EPERM".to_owned() };
        let layers = without(report(), &error).layers;
        layers.into_iter().map(|layer| (layer.state, layer.reason)).collect()
    }

    #[test]
    fn a_layer_that_failed_is_missing_and_says_why() {
        let text =
            "the sandbox cannot be set up here: seccomp: prctl: EPERM; nothing ran".to_owned();
        assert_eq!(
            states(FailedStep::Seccomp),
            [
                (LayerState::On, None),
                (LayerState::Missing, Some(text)),
                (LayerState::Off, Some("not in this version".to_owned())),
            ]
        );
    }

    #[test]
    fn without_the_process_that_sets_them_up_no_needed_layer_is_in_force() {
        let states: Vec<_> =
            states(FailedStep::Launcher).into_iter().map(|(state, _)| state).collect();
        assert_eq!(states, [LayerState::Missing, LayerState::Missing, LayerState::Off]);
    }

    #[test]
    fn a_program_that_cannot_be_started_takes_no_layer_away() {
        let error = RunError::Start { detail: "exec: ENOENT".to_owned() };
        let mode = Mode::WorkspaceWrite;
        assert_eq!(after(mode, &error), machine().report(mode));
    }
}
