//! What every session of a daemon is opened with: the daemon's configuration, once it has met the daemon's environment. Plain data;
//! a session keeps the one that it was opened with.

use std::path::PathBuf;

use brattice_policy::config::{Mcp, SessionDefaults, Settings};
use brattice_policy::environment::EnvironmentRules;
use brattice_policy::rules::Rules;
use brattice_policy::{Limits, RootKind};
use brattice_protocol::session::ToolsetName;
use brattice_web::Allowance;

use super::ceiling::Bounds;
use super::workspace::OwnPaths;
use crate::configuration::{Configuration, ConfigurationFiles};

/// What every session of a daemon is opened with.
#[derive(Debug)]
pub(crate) struct Grounds {
    /// What the daemon lives on; `state` is where the sessions' folders are.
    pub(crate) own: OwnPaths,
    /// The daemon's own environment.
    pub(crate) ambient: Vec<(Vec<u8>, Vec<u8>)>,
    /// The home of the daemon's user.
    pub(crate) home: String,
    /// What a session has that does not ask for something else.
    pub(crate) defaults: SessionDefaults<ToolsetName>,
    /// Limits.
    pub(crate) limits: Limits,
    /// What no session goes beyond.
    pub(crate) ceiling: Bounds,
    /// Folders that every session may write to besides its own, each with the rule that opens it.
    pub(crate) folders: Vec<(String, RootKind)>,
    /// What commands get of the daemon's environment.
    pub(crate) environment: EnvironmentRules,
    /// Tools that no session declares.
    pub(crate) disable: Vec<String>,
    /// What `web_fetch` may reach although it is reserved.
    pub(crate) web_allow: Allowance,
    /// Folders in which skills are looked for besides.
    pub(crate) skills: Vec<String>,
    /// What holds for MCP clients.
    pub(crate) mcp: Mcp,
    /// The command rules.
    pub(crate) rules: Rules,
    /// Where each value comes from.
    pub(crate) settings: Settings,
}

impl Grounds {
    /// A daemon's, by its configuration.
    pub(crate) fn of(
        own: OwnPaths,
        ambient: Vec<(Vec<u8>, Vec<u8>)>,
        home: String,
        configuration: Configuration,
    ) -> Grounds {
        let folders = configuration.folders(&home, |name| {
            let found = ambient.iter().find(|(known, _)| known == name.as_bytes());
            found.and_then(|(_, value)| String::from_utf8(value.clone()).ok())
        });
        let Configuration { ceiling, session, limits, environment, tools, mcp, rules, settings } =
            configuration;
        let ceiling = Bounds {
            mode: ceiling.mode(),
            approval: ceiling.approval,
            deny_read: ceiling.deny_read.iter().map(PathBuf::from).collect(),
        };
        Grounds {
            own,
            ambient,
            home,
            defaults: session,
            limits,
            ceiling,
            folders,
            environment,
            disable: tools.disable,
            web_allow: Allowance::new(tools.web_allow),
            skills: tools.skills,
            mcp,
            rules,
            settings,
        }
    }

    /// The same daemon's by another configuration.
    pub(super) fn reconfigured(
        &self,
        configuration: Configuration,
        files: &ConfigurationFiles,
    ) -> Grounds {
        let own = OwnPaths { configuration: files.paths(), ..self.own.clone() };
        Grounds::of(own, self.ambient.clone(), self.home.clone(), configuration)
    }
}
