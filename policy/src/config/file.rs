//! One configuration file: its keys, as far as it has them.

use std::time::Duration;

use toml::de::DeTable;

use crate::approval::{Approval, Escalation};
use crate::named::Named;
use crate::preset::Preset;
use crate::rules::Rule;
use crate::{LeftoverRule, Mode, Namespaces, Network};

use super::fault::{Fault, FaultKind, Faults, Position};
use super::reader::{Item, Placed, Section, Text};
use super::value::{
    YEAR, count, host_and_port, list, path, protected_path, size, span, truth, word,
};
use super::{environment, rule};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The machine's operator, who also says the ceiling.
    Operator,
    /// The daemon's user.
    User,
}

/// Whose a text is, and how it is called.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Whose it is.
    pub author: Author,
    /// Its file, as rules and settings name it.
    pub path: &'a str,
    /// What `~` stands for in it.
    pub home: &'a str,
}

/// What one file says.
#[derive(Debug)]
pub struct File<T> {
    pub(super) author: Author,
    pub(super) path: String,
    pub(super) ceiling: CeilingSection,
    pub(super) session: SessionSection<T>,
    pub(super) limits: LimitsSection,
    pub(super) environment: EnvironmentSection,
    pub(super) tools: ToolsSection,
    pub(super) trust_elicitation: Option<Placed<bool>>,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug, Default)]
pub(super) struct CeilingSection {
    pub(super) max_mode: Option<Placed<Mode>>,
    pub(super) approval: Option<Placed<Approval>>,
    pub(super) deny_read: Option<Placed<Vec<String>>>,
    pub(super) max_sessions: Option<Placed<u32>>,
}

#[derive(Debug)]
pub(super) struct SessionSection<T> {
    pub(super) mode: Option<Placed<Mode>>,
    pub(super) approval: Option<Placed<Approval>>,
    pub(super) toolset: Option<Placed<T>>,
    pub(super) network: Option<Placed<Network>>,
    pub(super) writable: Option<Placed<Vec<String>>>,
    pub(super) presets: Option<Placed<Vec<Preset>>>,
    pub(super) protect: Option<Placed<Vec<String>>>,
    pub(super) deny_read: Option<Placed<Vec<String>>>,
    pub(super) namespaces: Option<Placed<Namespaces>>,
    pub(super) devices: Option<Placed<Vec<String>>>,
    pub(super) unix_sockets: Option<Placed<Vec<String>>>,
    pub(super) detached_ttl: Option<Placed<Duration>>,
    pub(super) leftovers: Option<Placed<LeftoverRule>>,
    pub(super) escalation: Option<Placed<Escalation>>,
    pub(super) approval_ttl: Option<Placed<Duration>>,
}

#[derive(Debug, Default)]
pub(super) struct LimitsSection {
    pub(super) timeout: Option<Placed<Duration>>,
    pub(super) max_timeout: Option<Placed<Duration>>,
    pub(super) kill_grace: Option<Placed<Duration>>,
    pub(super) memory: Option<Placed<u64>>,
    pub(super) pids: Option<Placed<u32>>,
    pub(super) cpu: Option<Placed<u32>>,
    pub(super) open_files: Option<Placed<u32>>,
    pub(super) max_tasks: Option<Placed<u32>>,
    pub(super) spool: Option<Placed<u64>>,
    pub(super) state: Option<Placed<u64>>,
}

#[derive(Debug, Default)]
pub(super) struct EnvironmentSection {
    pub(super) keep: Option<Placed<Vec<String>>>,
    pub(super) drop: Option<Placed<Vec<String>>>,
    pub(super) set: Option<Placed<Vec<(String, String)>>>,
}

#[derive(Debug, Default)]
pub(super) struct ToolsSection {
    pub(super) disable: Option<Placed<Vec<String>>>,
    pub(super) skills: Option<Placed<Vec<String>>>,
    pub(super) web_allow: Option<Placed<Vec<String>>>,
}

impl<T: Named> File<T> {
    /// Reads a file's text.
    ///
    /// # Errors
    /// All that is wrong with it; nothing of it counts then.
    pub fn parse(text: &str, source: Source<'_>) -> Result<File<T>, Faults> {
        let place = Text::new(text);
        let file = match DeTable::parse(text) {
            Ok(table) => Some(read(place.whole(table.get_ref()), source)),
            Err(error) => {
                let at = Position::of(text, error.span());
                place.fault(at, FaultKind::Syntax(error.message().replace('\n', " ")));
                None
            }
        };
        let faults: Vec<Fault> = place.into_faults();
        match (file, Faults::of(faults)) {
            (Some(file), Ok(())) => Ok(file),
            (_, Err(faults)) => Err(faults),
            // A text that is no TOML is at fault.
            (None, Ok(())) => Ok(File::empty(source)),
        }
    }

    /// What a file says in which nothing stands.
    fn empty(source: Source<'_>) -> Self {
        File {
            author: source.author,
            path: source.path.to_owned(),
            ceiling: CeilingSection::default(),
            session: SessionSection::default(),
            limits: LimitsSection::default(),
            environment: EnvironmentSection::default(),
            tools: ToolsSection::default(),
            trust_elicitation: None,
            rules: Vec::new(),
        }
    }
}

impl<T> Default for SessionSection<T> {
    fn default() -> Self {
        SessionSection {
            mode: None,
            approval: None,
            toolset: None,
            network: None,
            writable: None,
            presets: None,
            protect: None,
            deny_read: None,
            namespaces: None,
            devices: None,
            unix_sockets: None,
            detached_ttl: None,
            leftovers: None,
            escalation: None,
            approval_ttl: None,
        }
    }
}

fn read<T: Named>(mut whole: Section<'_, '_>, source: Source<'_>) -> File<T> {
    let mut file = File::empty(source);
    if let Some(section) = whole.section("ceiling") {
        if source.author == Author::User {
            section.refuse(FaultKind::UsersCeiling);
        }
        file.ceiling = ceiling(section, source.home);
    }
    if let Some(section) = whole.section("session") {
        file.session = session(section, source.home);
    }
    if let Some(section) = whole.section("limits") {
        file.limits = limits(section);
    }
    if let Some(mut section) = whole.section("environment") {
        file.environment = EnvironmentSection {
            keep: section.read("keep", list(environment::pattern)),
            drop: section.read("drop", list(environment::pattern)),
            set: section.read("set", environment::assignments),
        };
        section.end();
    }
    if let Some(mut section) = whole.section("tools") {
        file.tools = ToolsSection {
            disable: section.read("disable", list(tool)),
            skills: section.read("skills", list(path(source.home))),
            web_allow: section.read("web_allow", list(host_and_port)),
        };
        section.end();
    }
    if let Some(mut section) = whole.section("mcp") {
        file.trust_elicitation = section.read("trust_elicitation", truth);
        section.end();
    }
    let rules = whole.sections("rule");
    file.rules = rules.into_iter().filter_map(|section| rule::read(section, source)).collect();
    whole.end();
    file
}

fn ceiling(mut section: Section<'_, '_>, home: &str) -> CeilingSection {
    let read = CeilingSection {
        max_mode: section.read("max_mode", word),
        approval: section.read("approval", word),
        deny_read: section.read("deny_read", list(path(home))),
        max_sessions: section.read("max_sessions", count::<1, 100_000>),
    };
    section.end();
    read
}

fn session<T: Named>(mut section: Section<'_, '_>, home: &str) -> SessionSection<T> {
    let read = SessionSection {
        mode: section.read("mode", word),
        approval: section.read("approval", word),
        toolset: section.read("toolset", word),
        network: section.read("network", word),
        writable: section.read("writable", list(path(home))),
        presets: section.read("presets", list(word)),
        protect: section.read("protect", list(protected_path(home))),
        deny_read: section.read("deny_read", list(path(home))),
        namespaces: section.read("namespaces", word),
        devices: section.read("devices", list(path(home))),
        unix_sockets: section.read("unix_sockets", list(path(home))),
        detached_ttl: section.read("detached_ttl", span::<YEAR>),
        leftovers: section.read("leftovers", word),
        escalation: section.read("escalation", word),
        approval_ttl: section.read("approval_ttl", span::<86_400>),
    };
    section.end();
    read
}

fn limits(mut section: Section<'_, '_>) -> LimitsSection {
    let read = LimitsSection {
        timeout: section.read("timeout", span::<YEAR>),
        max_timeout: section.read("max_timeout", span::<YEAR>),
        kill_grace: section.read("kill_grace", span::<300>),
        memory: section.read("memory", size::<{ 16 << 20 }>),
        pids: section.read("pids", count::<16, 4_194_304>),
        cpu: section.read("cpu", count::<1, 1_000_000>),
        open_files: section.read("open_files", count::<256, 1_048_576>),
        max_tasks: section.read("max_tasks", count::<1, 100_000>),
        spool: section.read("spool", size::<{ 16 << 20 }>),
        state: section.read("state", size::<{ 16 << 20 }>),
    };
    section.end();
    read
}

/// Every tool of every toolset, so that a name that is none is found before somebody counts on it.
const TOOLS: [&str; 21] = [
    "activate_skill",
    "ask_user",
    "ask_user_question",
    "bash",
    "edit",
    "edit_file",
    "exit_plan_mode",
    "glob",
    "grep",
    "read",
    "read_file",
    "read_skill",
    "skill",
    "task_input",
    "task_kill",
    "task_list",
    "task_output",
    "todo_write",
    "web_fetch",
    "write",
    "write_file",
];

fn tool(item: &Item<'_, '_>) -> Option<String> {
    const EXPECTED: &str = "the name of a tool, such as \"bash\"";
    let name = item.text(EXPECTED)?;
    if TOOLS.contains(&name) { Some(name.to_owned()) } else { item.refuse(EXPECTED) }
}
