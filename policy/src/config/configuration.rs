//! What all files say together, over what holds without any.

use std::fmt::Display;

use crate::approval::{Approval, Escalation};
use crate::environment::EnvironmentRules;
use crate::named::Named;
use crate::preset::{self, Preset};
use crate::rules::Rules;
use crate::{Limits, Mode, Namespaces, Network, RootKind, protect};

use super::Author;
use super::file::{
    CeilingSection, EnvironmentSection, File, LimitsSection, SessionSection, ToolsSection,
};
use super::quantity::{duration_in_words, size_in_words};
use super::reader::Placed;
use super::setting::{Layer, Setting, Settings};

/// The key of extra writable roots.
const WRITABLE: &str = "[session] writable";

/// A daemon's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration<T> {
    /// What no session goes beyond.
    pub ceiling: Ceiling,
    /// What a session has that does not ask for something else.
    pub session: SessionDefaults<T>,
    /// Limits of sessions and commands.
    pub limits: Limits,
    /// What commands get of the daemon's environment.
    pub environment: EnvironmentRules,
    /// Settings of tools, in every session.
    pub tools: Tools,
    /// What holds for MCP clients.
    pub mcp: Mcp,
    /// The command rules of all files.
    pub rules: Rules,
    /// Where each value comes from.
    pub settings: Settings,
}

/// What no session goes beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// The widest mode of any session.
    pub max_mode: Option<Mode>,
    /// Whether anybody is ever asked.
    pub approval: Approval,
    /// What no confined command reads, absolute.
    pub deny_read: Vec<String>,
}

impl Ceiling {
    /// The widest mode of any session.
    pub fn mode(&self) -> Mode {
        self.max_mode.unwrap_or(Mode::DangerFullAccess)
    }
}

/// Defaults of new sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDefaults<T> {
    /// The mode; never beyond the ceiling.
    pub mode: Mode,
    /// Whether somebody is asked; never beyond the ceiling.
    pub approval: Approval,
    /// What an escalation needs.
    pub escalation: Escalation,
    /// The toolset.
    pub toolset: T,
    /// The network.
    pub network: Network,
    /// Folders that every session may write to besides its own, absolute.
    pub writable: Vec<String>,
    /// Tools whose caches are writable.
    pub presets: Vec<Preset>,
    /// What is protected inside of writable roots, by a path from each.
    pub protect: Vec<String>,
    /// What confined commands do not read, absolute.
    pub deny_read: Vec<String>,
    /// Whether they get namespaces.
    pub namespaces: Namespaces,
    /// Devices that confined commands may use, absolute.
    pub devices: Vec<String>,
    /// Sockets that confined commands may connect to, absolute.
    pub unix_sockets: Vec<String>,
}

impl<T: Default> Default for SessionDefaults<T> {
    fn default() -> Self {
        SessionDefaults {
            mode: Mode::default(),
            approval: Approval::default(),
            escalation: Escalation::default(),
            toolset: T::default(),
            network: Network::default(),
            writable: Vec::new(),
            presets: Vec::new(),
            protect: protect::DEFAULT.map(str::to_owned).to_vec(),
            deny_read: Vec::new(),
            namespaces: Namespaces::default(),
            devices: Vec::new(),
            unix_sockets: Vec::new(),
        }
    }
}

/// Settings of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// Tools that no session declares.
    pub disable: Vec<String>,
    /// Folders in which skills are looked for besides.
    pub skills: Vec<String>,
    /// Hosts with their ports that may be fetched from although they are private.
    pub web_allow: Vec<String>,
}

/// What holds for MCP clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mcp {
    /// Whether a client's word is taken for a person's.
    pub trust_elicitation: bool,
}

impl<T: Named + Default> Default for Configuration<T> {
    fn default() -> Self {
        let mut none = Configuration {
            ceiling: Ceiling::default(),
            session: SessionDefaults::default(),
            limits: Limits::default(),
            environment: EnvironmentRules::default(),
            tools: Tools::default(),
            mcp: Mcp::default(),
            rules: Rules::default(),
            settings: Settings::default(),
        };
        none.tell_defaults();
        none
    }
}

impl<T: Named + Default> Configuration<T> {
    /// Puts files together, the operator's first: where two of them have a key, the later one's counts; lists that only
    /// narrow are united, and so are the rules.
    pub fn of(files: impl IntoIterator<Item = File<T>>) -> Self {
        let mut whole = Configuration::default();
        let mut rules = Vec::new();
        for file in files {
            let File { author, path, ceiling, session, limits, environment, tools, .. } = file;
            let mut taker = Taker { author, path: &path, settings: &mut whole.settings };
            taker.ceiling(&mut whole.ceiling, &mut whole.limits, ceiling);
            taker.session(&mut whole.session, &mut whole.limits, session);
            taker.limits(&mut whole.limits, limits);
            taker.environment(&mut whole.environment, environment);
            taker.tools(&mut whole.tools, tools);
            let trust = file.trust_elicitation;
            taker.set("[mcp] trust_elicitation", &mut whole.mcp.trust_elicitation, trust, |on| {
                on.to_string()
            });
            for rule in file.rules {
                taker.rule(&rule);
                rules.push(rule);
            }
        }
        whole.rules = Rules::of(rules);
        whole.narrow();
        whole
    }

    /// Bounds the defaults by the ceiling, and tells so.
    fn narrow(&mut self) {
        let ceiling = self.ceiling.mode();
        if self.session.mode > ceiling {
            self.session.mode = ceiling;
            self.bounded("[session] mode", "[ceiling] max_mode");
        }
        if self.session.approval > self.ceiling.approval {
            self.session.approval = self.ceiling.approval;
            self.bounded("[session] approval", "[ceiling] approval");
        }
    }

    /// Folders that every session may write to besides its own, as far as they are there then: absolute paths, each with
    /// the rule that names it. `variable` is the daemon's environment.
    pub fn folders(
        &self,
        home: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Vec<(String, RootKind)> {
        let mut settings = self.settings.as_slice().iter();
        let writable = settings.find(|setting| setting.key == WRITABLE);
        let kind = match writable.map(|setting| setting.layer) {
            Some(Layer::Operator) => RootKind::Operator,
            _ => RootKind::Configured,
        };
        let mut folders: Vec<(String, RootKind)> =
            self.session.writable.iter().map(|path| (path.clone(), kind)).collect();
        for preset in &self.session.presets {
            let rule = RootKind::Preset((*preset).into());
            let own = preset::folders(*preset, home, &variable);
            folders.extend(own.into_iter().map(|folder| (folder.path, rule)));
        }
        folders
    }

    fn bounded(&mut self, key: &str, by: &str) {
        let bound = self.settings.as_slice().iter().find(|setting| setting.key == by).cloned();
        if let Some(bound) = bound {
            self.settings.set(Setting { key: key.to_owned(), ..bound });
        }
    }

    fn tell_defaults(&mut self) {
        let (session, limits) = (&self.session, &self.limits);
        let told = [
            ("[ceiling] max_mode", self.ceiling.mode().to_string()),
            ("[ceiling] approval", self.ceiling.approval.to_string()),
            ("[ceiling] max_sessions", limits.max_sessions.to_string()),
            ("[session] mode", session.mode.to_string()),
            ("[session] approval", session.approval.to_string()),
            ("[session] toolset", session.toolset.name().to_owned()),
            ("[session] network", session.network.to_string()),
            ("[session] protect", session.protect.join(", ")),
            ("[session] namespaces", session.namespaces.to_string()),
            ("[session] detached_ttl", duration_in_words(limits.detached_ttl)),
            ("[session] leftovers", limits.leftovers.name().to_owned()),
            ("[session] escalation", session.escalation.to_string()),
            ("[session] approval_ttl", duration_in_words(limits.approval_ttl)),
            ("[limits] memory", limits.memory.map_or("none".to_owned(), size_in_words)),
            ("[limits] pids", limits.pids.map_or("none".to_owned(), |pids| pids.to_string())),
            ("[limits] cpu", limits.cpu.map_or("none".to_owned(), |percent| percent.to_string())),
            ("[limits] open_files", limits.open_files.to_string()),
            ("[limits] max_tasks", limits.max_tasks.to_string()),
            ("[limits] spool", size_in_words(limits.spool)),
            ("[limits] state", size_in_words(limits.state)),
            ("[mcp] trust_elicitation", self.mcp.trust_elicitation.to_string()),
        ];
        for (key, value) in told {
            let (key, layer) = (key.to_owned(), Layer::BuiltIn);
            self.settings.set(Setting { key, value, layer, place: None });
        }
    }
}

/// Takes what one file says.
struct Taker<'a> {
    author: Author,
    path: &'a str,
    settings: &'a mut Settings,
}

impl Taker<'_> {
    fn setting(&self, key: &str, value: String, line: usize) -> Setting {
        let layer = match self.author {
            Author::Operator => Layer::Operator,
            Author::User => Layer::User,
        };
        let place = Some(format!("{}:{line}", self.path));
        Setting { key: key.to_owned(), value, layer, place }
    }

    /// A key that a file does not have leaves what was there before.
    fn set<P, V: Into<P>>(
        &mut self,
        key: &str,
        place: &mut P,
        value: Option<Placed<V>>,
        told: impl Fn(&V) -> String,
    ) {
        if let Some(Placed { value, line }) = value {
            self.settings.set(self.setting(key, told(&value), line));
            *place = value.into();
        }
    }

    /// A list that only narrows grows with each file.
    fn add<V: PartialEq>(
        &mut self,
        key: &str,
        list: &mut Vec<V>,
        more: Option<Placed<Vec<V>>>,
        told: impl Fn(&V) -> String,
    ) {
        if let Some(Placed { value, line }) = more {
            for entry in value.into_iter() {
                if !list.contains(&entry) {
                    self.settings.add(self.setting(key, told(&entry), line));
                    list.push(entry);
                }
            }
        }
    }

    fn ceiling(&mut self, ceiling: &mut Ceiling, limits: &mut Limits, section: CeilingSection) {
        let CeilingSection { max_mode, approval, deny_read, max_sessions } = section;
        self.set("[ceiling] max_mode", &mut ceiling.max_mode, max_mode, shown);
        self.set("[ceiling] approval", &mut ceiling.approval, approval, shown);
        self.add("[ceiling] deny_read", &mut ceiling.deny_read, deny_read, String::clone);
        let max_sessions = max_sessions.map(|count| count.map(|count| count as usize));
        self.set("[ceiling] max_sessions", &mut limits.max_sessions, max_sessions, shown);
    }

    fn session<T: Named>(
        &mut self,
        session: &mut SessionDefaults<T>,
        limits: &mut Limits,
        section: SessionSection<T>,
    ) {
        let SessionSection { mode, approval, toolset, network, writable, presets, .. } = section;
        self.set("[session] mode", &mut session.mode, mode, shown);
        self.set("[session] approval", &mut session.approval, approval, shown);
        self.set("[session] toolset", &mut session.toolset, toolset, |set| set.name().to_owned());
        self.set("[session] network", &mut session.network, network, shown);
        self.set(WRITABLE, &mut session.writable, writable, |list| list.join(", "));
        self.set("[session] presets", &mut session.presets, presets, |list| names(list));
        let SessionSection { protect, deny_read, namespaces, devices, unix_sockets, .. } = section;
        self.set("[session] protect", &mut session.protect, protect, |list| list.join(", "));
        self.set("[session] deny_read", &mut session.deny_read, deny_read, |list| list.join(", "));
        self.set("[session] namespaces", &mut session.namespaces, namespaces, shown);
        self.set("[session] devices", &mut session.devices, devices, |list| list.join(", "));
        let sockets = &mut session.unix_sockets;
        self.set("[session] unix_sockets", sockets, unix_sockets, |list| list.join(", "));
        let SessionSection { detached_ttl, leftovers, escalation, approval_ttl, .. } = section;
        let ttl = &mut limits.detached_ttl;
        self.set("[session] detached_ttl", ttl, detached_ttl, |span| duration_in_words(*span));
        let rule = &mut limits.leftovers;
        self.set("[session] leftovers", rule, leftovers, |rule| rule.name().to_owned());
        self.set("[session] escalation", &mut session.escalation, escalation, shown);
        let ttl = &mut limits.approval_ttl;
        self.set("[session] approval_ttl", ttl, approval_ttl, |span| duration_in_words(*span));
    }

    fn limits(&mut self, limits: &mut Limits, section: LimitsSection) {
        let LimitsSection { timeout, max_timeout, kill_grace, memory, pids, cpu, .. } = section;
        self.set("[limits] timeout", &mut limits.timeout, timeout, |span| duration_in_words(*span));
        let max = &mut limits.max_timeout;
        self.set("[limits] max_timeout", max, max_timeout, |span| duration_in_words(*span));
        let grace = &mut limits.kill_grace;
        self.set("[limits] kill_grace", grace, kill_grace, |span| duration_in_words(*span));
        // No default is longer than the longest.
        limits.timeout = limits.timeout.min(limits.max_timeout);
        self.set("[limits] memory", &mut limits.memory, memory, |bytes| size_in_words(*bytes));
        let pids = pids.map(|count| count.map(u64::from));
        self.set("[limits] pids", &mut limits.pids, pids, shown);
        self.set("[limits] cpu", &mut limits.cpu, cpu, shown);
        let LimitsSection { open_files, max_tasks, spool, state, .. } = section;
        self.set("[limits] open_files", &mut limits.open_files, open_files, shown);
        let max_tasks = max_tasks.map(|count| count.map(|count| count as usize));
        self.set("[limits] max_tasks", &mut limits.max_tasks, max_tasks, shown);
        self.set("[limits] spool", &mut limits.spool, spool, |bytes| size_in_words(*bytes));
        self.set("[limits] state", &mut limits.state, state, |bytes| size_in_words(*bytes));
    }

    fn environment(&mut self, environment: &mut EnvironmentRules, section: EnvironmentSection) {
        let EnvironmentSection { keep, drop, set } = section;
        self.add("[environment] keep", &mut environment.keep, keep, String::clone);
        self.add("[environment] drop", &mut environment.drop, drop, String::clone);
        if let Some(Placed { value, line }) = set {
            for (name, text) in value {
                let key = format!("[environment] set {name}");
                self.settings.set(self.setting(&key, text.clone(), line));
                environment.set.insert(name, text);
            }
        }
    }

    fn tools(&mut self, tools: &mut Tools, section: ToolsSection) {
        let ToolsSection { disable, skills, web_allow } = section;
        self.add("[tools] disable", &mut tools.disable, disable, String::clone);
        self.set("[tools] skills", &mut tools.skills, skills, |list| list.join(", "));
        self.set("[tools] web_allow", &mut tools.web_allow, web_allow, |list| list.join(", "));
    }

    fn rule(&mut self, rule: &crate::rules::Rule) {
        let value = format!("{} {}: {}", rule.decision, rule.argv.join(" "), rule.reason);
        let setting = self.setting("[[rule]]", value, 0);
        self.settings.add(Setting { place: Some(rule.origin.clone()), ..setting });
    }
}

fn shown<V: Display>(value: &V) -> String {
    value.to_string()
}

fn names(presets: &[Preset]) -> String {
    presets.iter().map(|preset| preset.as_str()).collect::<Vec<_>>().join(", ")
}
