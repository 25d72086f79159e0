//! A writer is killed at every system call of a replacement that changes anything; after a recovery each file is the old or the
//! new one, all of a set alike, and nothing stands beside them.
//!
//! The writer is this test program, started once more under strace(1), which kills it.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use brattice_files::edit::{Edit, Order, Rule};
use brattice_files::{Apply, Cancel, Context, Expected, FileEdits, Links, State, recover};

use crate::folder::Folder;

/// Calls that change something. Those that an architecture lacks are passed over.
const CALLS: &str = "openat,write,pwrite64,ftruncate,fsync,fdatasync,?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,\
                     ?mkdir,mkdirat,fchmod,fchown,fsetxattr,fremovexattr,flock";

/// The variables by which the writer is told what to do.
const SCENARIO: &str = "BRATTICE_FILES_SCENARIO";
const ROOT: &str = "BRATTICE_FILES_ROOT";

/// What the writer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// Edits one file.
    Exchange,
    /// Writes a new file in new folders.
    Create,
    /// Edits a file that has two names.
    Linked,
    /// Edits three files, the second of which has two names.
    Several,
    /// Recovers.
    Recover,
}

const SCENARIOS: [Scenario; 5] =
    [Scenario::Exchange, Scenario::Create, Scenario::Linked, Scenario::Several, Scenario::Recover];

impl Scenario {
    fn run(self, root: &Path) {
        let (journal, cancel) = (root.join("journal"), Cancel::default());
        let context = Context {
            journal: &journal,
            cancel: &cancel,
            lock_wait: Duration::from_secs(30),
            links: Links::Follow,
        };
        let edits = |name: &str| FileEdits {
            path: root.join("ws").join(name),
            edits: vec![Edit { old: "old".to_owned(), new: "new".to_owned(), rule: Rule::All }],
            order: Order::Original,
            expected: Expected::Any,
        };
        let edit = |names: &[&str]| {
            let files: Vec<FileEdits> = names.iter().map(|name| edits(name)).collect();
            brattice_files::edit(&files, Apply::Write, context).unwrap();
        };
        match self {
            Scenario::Exchange => edit(&["a"]),
            Scenario::Linked => edit(&["b"]),
            Scenario::Several => edit(&["a", "b", "c"]),
            Scenario::Create => {
                let path = root.join("ws/new/folder/d");
                let content = "new\n".repeat(3);
                brattice_files::write(&path, &content, Expected::Absent, Apply::Write, context)
                    .unwrap();
            }
            Scenario::Recover => {
                recover(&journal).unwrap();
            }
        }
    }

    /// Files that it changes.
    fn names(self) -> &'static [&'static str] {
        match self {
            Scenario::Exchange => &["a"],
            Scenario::Create => &["new/folder/d"],
            Scenario::Linked => &["b", "b2"],
            Scenario::Several | Scenario::Recover => &["a", "b", "b2", "c"],
        }
    }
}

#[test]
#[ignore = "the writer, which the other tests start"]
fn writer() {
    let scenario = std::env::var(SCENARIO).unwrap();
    let scenario = SCENARIOS.into_iter().find(|known| format!("{known:?}") == scenario).unwrap();
    // strace counts by thread, and the test program's main thread opens and writes a few times. These calls put this thread's
    // counts beyond the other's, so that no number means both.
    let mut null = fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    for _ in 0..40 {
        null = fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        null.write_all(b".").unwrap();
    }
    drop(null);
    scenario.run(Path::new(&std::env::var_os(ROOT).unwrap()));
}

/// Starts the writer under strace with these further arguments.
fn strace(folder: &Folder, scenario: Scenario, arguments: &[String]) -> Output {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "signal=none", "-o"]).arg(folder.root().join("trace"));
    command.args(arguments).arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "crash::writer", "--test-threads=1", "--nocapture"]);
    command.env(SCENARIO, format!("{scenario:?}")).env(ROOT, folder.root());
    // With it the loader tries so many folders that the counts of threads overlap.
    command.env_remove("LD_LIBRARY_PATH");
    command.output().expect("strace is installed")
}

/// The calls that a writer makes which is not killed.
pub(crate) struct Trace(Vec<String>);

/// One call: its name, and which of that name it is, from 1, as strace counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call(String, usize);

impl Trace {
    /// `injected` are further arguments, such as calls that fail.
    pub(crate) fn of(scenario: Scenario, injected: &[String]) -> Self {
        Trace::in_folder(&prepared(), scenario, injected)
    }

    fn in_folder(folder: &Folder, scenario: Scenario, injected: &[String]) -> Self {
        let mut arguments = vec!["-e".to_owned(), format!("trace={CALLS}")];
        arguments.extend_from_slice(injected);
        let output = strace(folder, scenario, &arguments);
        assert!(output.status.success(), "{output:?}");
        let trace = fs::read_to_string(folder.root().join("trace")).unwrap();
        let thread = |line: &str| line.split(' ').next().map(str::to_owned);
        let writer = trace.lines().find(|line| line.contains("/dev/null\"")).and_then(thread);
        let others = trace.lines().filter(|line| thread(line) != writer);
        assert!(others.count() < 40, "{trace}");
        let is_call = |line: &&str| {
            thread(line) == writer && line.contains('(') && !line.contains("resumed>")
        };
        Trace(trace.lines().filter(is_call).map(str::to_owned).collect())
    }

    fn name(&self, index: usize) -> &str {
        let call = self.0[index].split('(').next().unwrap();
        call.split(' ').next_back().unwrap()
    }

    fn call(&self, index: usize) -> Call {
        let name = self.name(index);
        let before = (0..index).filter(|index| self.name(*index) == name).count();
        Call(name.to_owned(), before + 1)
    }

    fn first(&self, text: &str) -> usize {
        let found = self.0.iter().position(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("{text}: {:#?}", self.0))
    }

    /// The first call that has this in it.
    pub(crate) fn at(&self, text: &str) -> Call {
        self.call(self.first(text))
    }

    /// The call after that one.
    pub(crate) fn after(&self, text: &str) -> Call {
        self.call(self.first(text) + 1)
    }

    /// From the record on, to the end; without those that an injection takes.
    fn calls(&self) -> Vec<Call> {
        let is_free = |index: &usize| !self.0[*index].contains("(INJECTED)");
        let first = self.first(".journal\"");
        (first..self.0.len()).filter(is_free).map(|index| self.call(index)).collect()
    }
}

/// A workspace with the files of all scenarios.
fn prepared() -> Folder {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.put(name, format!("{name}: old and more of it\n").repeat(3));
    }
    fs::hard_link(folder.path("b"), folder.path("b2")).unwrap();
    folder
}

/// A workspace whose writer died when it was about to make this call.
pub(crate) fn killed(scenario: Scenario, call: &Call, injected: &[String]) -> Folder {
    let folder = prepared();
    kill(&folder, scenario, call, injected);
    folder
}

fn kill(folder: &Folder, scenario: Scenario, call: &Call, injected: &[String]) {
    let Call(name, number) = call;
    let mut arguments = vec![
        "-e".to_owned(),
        format!("trace={CALLS}"),
        "-e".to_owned(),
        format!("inject={name}:signal=KILL:when={number}"),
    ];
    arguments.extend_from_slice(injected);
    let output = strace(folder, scenario, &arguments);
    assert_eq!(output.status.signal(), Some(9), "{scenario:?} at {call:?}: {output:?}");
}

/// Recovers, and asserts that the files are all old or all new. Whether they are new.
fn is_whole(folder: &Folder, scenario: Scenario, at: &str) -> bool {
    let recovery = recover(&folder.journal()).unwrap();
    let what = format!("{scenario:?} at {at}: {recovery:?}");
    assert_eq!(recovery.live, 0, "{what}");
    assert!(
        recovery.files.iter().all(|file| matches!(file.state, State::Old | State::New)),
        "{what}"
    );
    let mut names = folder.names();
    let is_new = scenario.names().iter().any(|name| {
        fs::read_to_string(folder.path(name)).is_ok_and(|content| content.contains("new"))
    });
    let content = |name: &str| match (is_new, scenario) {
        (true, Scenario::Create) => "new\n".to_owned(),
        (is_new, _) => {
            format!("{}: {} and more of it\n", &name[..1], if is_new { "new" } else { "old" })
        }
    };
    if scenario != Scenario::Create || is_new {
        for name in scenario.names() {
            assert_eq!(folder.content(name), content(name).repeat(3), "{name}: {what}");
        }
    }
    if scenario == Scenario::Create && is_new {
        names.retain(|name| !name.starts_with("new/"));
    }
    assert_eq!(names, ["a", "b", "b2", "c"], "{what}");
    assert_eq!(recover(&folder.journal()).unwrap().files, [], "{what}");
    is_new
}

/// Kills at each call. Some leave the old content and some the new one.
fn killed_everywhere(scenario: Scenario, injected: &[String]) {
    let calls = Trace::of(scenario, injected).calls();
    assert!(calls.len() > 8, "{calls:?}");
    let outcomes: Vec<bool> = calls
        .iter()
        .map(|call| is_whole(&killed(scenario, call, injected), scenario, &format!("{call:?}")))
        .collect();
    assert!(outcomes.contains(&false) && outcomes.contains(&true), "{outcomes:?}");
    let told: Vec<_> = calls.iter().zip(&outcomes).collect();
    assert!(outcomes.is_sorted(), "once it is new it stays new: {told:?}");
}

#[test]
fn b081_a_file_that_is_exchanged_is_old_or_new() {
    killed_everywhere(Scenario::Exchange, &[]);
}

#[test]
fn b081_a_new_file_is_there_or_not_and_so_are_its_folders() {
    killed_everywhere(Scenario::Create, &[]);
}

#[test]
fn b081_a_hard_link_is_old_or_new() {
    killed_everywhere(Scenario::Linked, &[]);
}

#[test]
fn b081_several_files_are_all_old_or_all_new() {
    killed_everywhere(Scenario::Several, &[]);
}

fn without_exchange() -> [String; 2] {
    ["-e".to_owned(), "inject=renameat2:error=EINVAL".to_owned()]
}

#[test]
fn b081_so_they_are_where_names_cannot_be_exchanged() {
    killed_everywhere(Scenario::Exchange, &without_exchange());
    killed_everywhere(Scenario::Create, &without_exchange());
    killed_everywhere(Scenario::Several, &without_exchange());
}

#[test]
fn b081_a_recovery_that_is_killed_can_be_repeated() {
    let half_way = Trace::of(Scenario::Several, &[]).after("ftruncate(");
    let folder = killed(Scenario::Several, &half_way, &[]);
    let trace = Trace::in_folder(&folder, Scenario::Recover, &[]);
    assert!(!is_whole(&folder, Scenario::Several, "a recovery"));
    for call in trace.calls() {
        let folder = killed(Scenario::Several, &half_way, &[]);
        kill(&folder, Scenario::Recover, &call, &[]);
        assert!(!is_whole(&folder, Scenario::Recover, &format!("{call:?}")));
    }
}

/// Each call of some kinds fails once, as on a full disk.
#[test]
fn b081_a_failed_write_leaves_the_old_files_and_no_folder() {
    for scenario in [Scenario::Exchange, Scenario::Create, Scenario::Linked, Scenario::Several] {
        for Call(name, number) in Trace::of(scenario, &[]).calls() {
            if !["write", "pwrite64", "fsync", "ftruncate", "fchmod"].contains(&name.as_str()) {
                continue;
            }
            let folder = prepared();
            let inject = format!("inject={name}:error=ENOSPC:when={number}");
            let arguments = ["-e", &format!("trace={name}"), "-e", &inject].map(str::to_owned);
            let is_failed = !strace(&folder, scenario, &arguments).status.success();
            let is_new = is_whole(&folder, scenario, &inject);
            assert!(is_failed || is_new, "{scenario:?} {inject}");
        }
    }
}

/// Whether the record of a writer says that a temporary is whole.
fn is_made(folder: &Folder) -> bool {
    let records = fs::read_dir(folder.journal()).unwrap();
    let texts = records.filter_map(|record| fs::read_to_string(record.unwrap().path()).ok());
    texts.into_iter().any(|text| text.contains("\nmade "))
}

/// strace holds the writer when it is about to exchange the names. An editor that knows no lock of ours replaces the file
/// meanwhile, again and again.
#[test]
fn b074_a_rename_between_the_last_look_and_the_exchange_is_not_lost() {
    let folder = prepared();
    let arguments = ["-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=1500000:when=1"];
    let output = std::thread::scope(|scope| {
        let writer =
            scope.spawn(|| strace(&folder, Scenario::Exchange, &arguments.map(str::to_owned)));
        while !is_made(&folder) {
            assert!(!writer.is_finished(), "the writer is held");
            std::thread::sleep(Duration::from_millis(1));
        }
        let his = folder.root().join("his");
        for number in 1..=30 {
            fs::write(&his, format!("his {number}: old\n")).unwrap();
            fs::rename(&his, folder.path("a")).unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        writer.join().unwrap()
    });
    assert!(output.status.success(), "{output:?}");
    assert_eq!(folder.content("a"), "his 30: new\n");
    assert_eq!(folder.names(), ["a", "b", "b2", "c"]);
}
