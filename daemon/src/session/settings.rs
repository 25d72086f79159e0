//! The settings that hold for a session, each with where it comes from, as `policy.show` tells them.

use brattice_policy::config::{Layer, Setting, Settings};
use brattice_policy::{Approval, Profile};
use brattice_protocol::session::{OpenParams, ToolsetName};

/// The settings that hold for a session, with what it was opened with.
pub(super) fn of_opened(settings: &Settings, params: &OpenParams) -> Settings {
    let mut told = settings.clone();
    let OpenParams { mode, approval, toolset, network, writable, options, .. } = params;
    let own = [
        ("[session] mode", mode.map(|mode| mode.to_string())),
        ("[session] approval", approval.map(|approval| approval.to_string())),
        ("[session] toolset", toolset.map(|toolset| toolset.as_str().to_owned())),
        ("[session] network", network.map(|network| network.to_string())),
    ];
    let setting = |key: &str, value: String| {
        let (key, layer) = (key.to_owned(), Layer::Session);
        Setting { key, value, layer, place: None }
    };
    for (key, value) in own {
        if let Some(value) = value {
            told.set(setting(key, value));
        }
    }
    if !writable.is_empty() {
        told.add(setting("[session] writable", writable.join(", ")));
    }
    for tool in &options.disable {
        told.add(setting("[tools] disable", tool.clone()));
    }
    for path in &options.skills {
        told.add(setting("[tools] skills", path.clone()));
    }
    told
}

/// The settings that hold for a session of an earlier daemon: what it has was decided when it was opened.
pub(super) fn of_saved(
    settings: &Settings,
    profile: &Profile,
    approval: Approval,
    toolset: ToolsetName,
) -> Settings {
    let params = OpenParams {
        mode: Some(profile.mode),
        approval: Some(approval),
        network: Some(profile.network),
        toolset: Some(toolset),
        ..OpenParams::default()
    };
    of_opened(settings, &params)
}
