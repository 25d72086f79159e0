//! What a toolset is: every value in which two of them may differ. The values themselves are a file per
//! toolset; those about a command's result are described in `wording`; what follows from them is computed by `arguments`, `declare` and `render`.

use std::time::Duration;

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;

use super::options::SessionOption;
use super::parameter::Parameter;
use super::skills::SkillRules;
use super::tool::ToolKind;
use super::variables::Variable;
use super::wording::{AnswerForm, CommandRules, LoopDetector, ResultCap};
use super::{dsh, glrs, minimal, standard};
use crate::approval::Choices;
use crate::exec::spec::Streams;

/// How many bytes before the kept tail are read with it. They are never shown: they tell whether the tail begins
/// inside a character or an escape sequence.
pub(super) const CONTEXT_BYTES: usize = 4096;

/// A toolset, as data.
#[derive(Debug)]
pub(crate) struct Toolset {
    /// Its name on the wire.
    pub(crate) name: ToolsetName,
    /// Its tools, in the order of declaration.
    pub(crate) tools: &'static [ToolRules],
    /// What an undeclared argument does to a call.
    pub(crate) unknown: UnknownArguments,
    /// Options that its sessions have besides those that all have.
    pub(crate) options: &'static [SessionOption],
    /// Time limits of a foreground command, and the grace of every one.
    pub(crate) times: TimeRules,
    /// Tasks that no call waits for.
    pub(crate) tasks: TaskRules,
    /// How a call's command is run and its result worded.
    pub(crate) command: CommandRules,
    /// How a command's output streams are carried.
    pub(crate) streams: Streams,
    /// How a stream is put into text.
    pub(crate) output: OutputRules,
    /// What a person who is asked may answer.
    pub(crate) approvals: Choices,
    /// How the answers to questions are told.
    pub(crate) answers: AnswerForm,
    /// The cap on what any of its tools answers.
    pub(crate) cap: ResultCap,
    /// Whether repeated calls are told unless a session says otherwise.
    pub(crate) loops: LoopDetector,
    /// How files are shown and changes told.
    pub(crate) files: FileRules,
    /// Where it finds skills, and how it shows one.
    pub(crate) skills: SkillRules,
    /// How many denials a text names beneath the line that says that there were some.
    pub(crate) listed_denials: usize,
    /// What a flagged text begins with.
    pub(crate) error_prefix: &'static str,
    /// Variables that its commands get beyond the session's environment.
    pub(crate) variables: &'static [Variable],
}

/// What a tool is called and takes.
#[derive(Debug)]
pub(crate) struct ToolRules {
    /// The tool.
    pub(crate) kind: ToolKind,
    /// The name that a call uses.
    pub(crate) name: &'static str,
    /// Its declared parameters, in the order in which they are told.
    pub(crate) parameters: &'static [Parameter],
}

/// What an undeclared argument does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownArguments {
    /// It is a fault that names the argument.
    Refuse,
    /// Nothing.
    Ignore,
}

/// What is particular to tasks that no call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskRules {
    /// What a call's time limit does to a command in the background.
    pub(crate) limit: BackgroundLimit,
    /// How long `task_output` waits.
    pub(crate) wait: TimeLimits,
    /// How much is said about a task.
    pub(crate) detail: Detail,
}

impl OutputRules {
    /// As the command printed it, of which a stream's worth is kept.
    pub(super) const VERBATIM: OutputRules = OutputRules {
        kept_bytes: 64_000,
        nul: Nul::Verbatim,
        terminal: Terminal::Verbatim,
        words: "Carriage returns, escape sequences and other control characters are kept as the command printed them.",
    };
}

impl FileRules {
    /// Of a toolset without tools for files: nothing is shown by them.
    pub(super) const WITHOUT_TOOLS: FileRules =
        FileRules { shown: Shown::Numbered, detail: Detail::Plain };
}

impl TaskRules {
    /// Of a toolset without the tools for tasks: a client may still start some, whose ends are told.
    pub(super) const WITHOUT_TOOLS: TaskRules = TaskRules {
        limit: BackgroundLimit::None,
        wait: TimeLimits { default: Duration::ZERO, max: Duration::ZERO },
        detail: Detail::Plain,
    };
}

/// What a call's time limit does to a command in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundLimit {
    /// Nothing.
    None,
    /// One that is given applies, without a cap. There is none by default.
    AsAsked,
}

/// How much is said about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its state, its command, and how it ended.
    Plain,
    /// Also who ended it and why, its times and sizes, and what it seems to wait for.
    Full,
}

/// Whose time limits hold for a toolset's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeRules {
    /// The configuration's.
    Configured,
    /// Its own, which win over those: a runtime whose tools it reproduces counts on them.
    Own(CallTimes),
}

/// The times of a session's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallTimes {
    /// Of one that a call waits for.
    pub(crate) limits: TimeLimits,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
}

impl CallTimes {
    /// The grace as people read it.
    pub(super) fn grace_in_words(self) -> String {
        match self.grace.subsec_millis() {
            0 => format!("{} s", self.grace.as_secs()),
            _ => format!("{} ms", self.grace.as_millis()),
        }
    }
}

/// Time limits of what a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    /// Where the call names none.
    pub(crate) default: Duration,
    /// The cap; what a call asks beyond it is clamped, and said.
    pub(crate) max: Duration,
}

/// How files are shown and changes told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRules {
    /// How the lines of a file are shown.
    pub(crate) shown: Shown,
    /// How much is said of a change.
    pub(crate) detail: Detail,
}

/// How the lines of a file are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// `N|text`, and the footer.
    Numbered,
    /// `N: text` and the footer in tags, after the path.
    Tagged,
}

/// How a stream is put into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputRules {
    /// The cap on one stream: the tail that is shown is at most so many bytes, of the stream and of the text.
    pub(crate) kept_bytes: usize,
    /// What becomes of NUL.
    pub(crate) nul: Nul,
    /// What becomes of carriage returns, backspaces and escape sequences.
    pub(crate) terminal: Terminal,
    /// The two rules above, in a sentence for the tool's description.
    pub(crate) words: &'static str,
}

/// What becomes of NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nul {
    /// It is shown as U+2400, `␀`.
    Symbol,
    /// It stays.
    Verbatim,
}

/// What becomes of carriage returns, backspaces and escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminal {
    /// A redrawn line is shown as its last state, and no control characters are left but newline and tab.
    Cleaned,
    /// They stay.
    Verbatim,
}

impl Toolset {
    /// The toolset of that name.
    pub(crate) fn of(name: ToolsetName) -> &'static Toolset {
        match name {
            ToolsetName::Standard => &standard::TOOLSET,
            ToolsetName::Dsh => &dsh::TOOLSET,
            ToolsetName::Glrs => &glrs::TOOLSET,
            ToolsetName::Minimal => &minimal::TOOLSET,
        }
    }

    /// The times of its commands under these limits.
    pub(crate) fn times(&self, limits: &Limits) -> CallTimes {
        match self.times {
            TimeRules::Own(times) => times,
            TimeRules::Configured => CallTimes {
                limits: TimeLimits { default: limits.timeout, max: limits.max_timeout },
                grace: limits.kill_grace,
            },
        }
    }

    /// Whether it has a tool that asks a person.
    pub(crate) fn asks(&self) -> bool {
        self.tools.iter().any(|rules| rules.kind == ToolKind::AskUser)
    }

    /// A text that is flagged `isError`, as this toolset words it.
    pub(crate) fn error(&self, text: &str) -> String {
        format!("{}{text}", self.error_prefix)
    }
}

#[cfg(test)]
mod tests {
    use brattice_policy::Named as _;
    use brattice_protocol::session::Options;

    use super::*;
    use crate::toolset::tool::SessionTools;
    use crate::toolset::wording::CutLine;

    #[test]
    fn a_toolset_has_the_name_it_is_found_by() {
        for name in ToolsetName::NAMED {
            assert_eq!(Toolset::of(*name).name, *name);
        }
    }

    #[test]
    fn flagged_texts_carry_the_prefix_of_the_toolset() {
        assert_eq!(Toolset::of(ToolsetName::Standard).error("no"), "no");
        assert_eq!(Toolset::of(ToolsetName::Dsh).error("no"), "Error: no");
        assert_eq!(Toolset::of(ToolsetName::Glrs).error("no"), "ERROR: no");
        assert_eq!(Toolset::of(ToolsetName::Minimal).error("no"), "no");
    }

    #[test]
    fn the_configurations_times_hold_where_a_toolset_has_none_of_its_own() {
        let seconds = Duration::from_secs;
        let limits = Limits {
            timeout: seconds(1),
            max_timeout: seconds(2),
            kill_grace: Duration::from_millis(1500),
            ..Limits::default()
        };
        let times = Toolset::of(ToolsetName::Standard).times(&limits);
        let expected = TimeLimits { default: seconds(1), max: seconds(2) };
        assert_eq!(times, CallTimes { limits: expected, grace: limits.kill_grace });
        assert_eq!(times.grace_in_words(), "1500 ms");
        let dsh = Toolset::of(ToolsetName::Dsh);
        assert_eq!(dsh.times(&limits), dsh.times(&Limits::default()));
    }

    #[test]
    fn limits_are_those_of_the_contract() {
        let facts = |name| {
            let toolset = Toolset::of(name);
            let CallTimes { limits, grace } = toolset.times(&Limits::default());
            (
                limits.default.as_millis(),
                limits.max.as_millis(),
                grace.as_millis(),
                toolset.output.kept_bytes,
            )
        };
        assert_eq!(facts(ToolsetName::Standard), (120_000, 600_000, 5_000, 64_000));
        assert_eq!(facts(ToolsetName::Dsh), (120_000, 600_000, 3_000, 64_000));
        let own = |name, options: &Options| {
            let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
            let tools = tools.opened_with(options);
            let CallTimes { limits, grace } = tools.times();
            assert_eq!(limits.default, limits.max);
            (limits.default.as_millis(), grace.as_millis(), tools.cap(), tools.loops())
        };
        let options = Options::default();
        let (chars, characters) = (CutLine::Truncated, CutLine::OutputTruncated);
        assert_eq!(
            own(ToolsetName::Glrs, &options),
            (600_000, 5_000, ResultCap::Characters(30_000, chars), LoopDetector::Off)
        );
        assert_eq!(
            own(ToolsetName::Minimal, &options),
            (30_000, 5_000, ResultCap::Characters(8_000, characters), LoopDetector::On)
        );
        let limit =
            Options { tool_timeout_ms: Some(1_500), loop_detector: Some(true), ..options.clone() };
        assert_eq!(
            own(ToolsetName::Glrs, &limit),
            (1_500, 5_000, ResultCap::Characters(30_000, chars), LoopDetector::On)
        );
        let output = Options { max_output: Some(9), loop_detector: Some(false), ..options };
        assert_eq!(
            own(ToolsetName::Minimal, &output),
            (30_000, 5_000, ResultCap::Characters(9, characters), LoopDetector::Off)
        );
        let loops = [ToolsetName::Standard, ToolsetName::Dsh].map(|name| Toolset::of(name).loops);
        assert_eq!(loops, [LoopDetector::On, LoopDetector::Off]);
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let TimeLimits { default, max } = Toolset::of(name).tasks.wait;
            assert_eq!((default.as_millis(), max.as_millis()), (30_000, 600_000));
        }
    }
}
