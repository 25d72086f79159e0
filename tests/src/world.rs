//! A throw-away world: folders, a daemon of its own, and the unconfined twin.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use brattice_protocol::hello::Hello;
use serde_json::{Value, json};

use crate::binaries;
use crate::daemon::Daemon;
use crate::native::Native;
use crate::operator::{Answering, Operator};
use crate::process::Process;
use crate::root::Root;
use crate::session::Opening;
use crate::supervisor::Supervisor;
use crate::until::eventually;
use crate::wire::Wire;

/// The modes in which the kernel confines a command.
pub const CONFINED: [&str; 2] = ["read-only", "workspace-write"];

/// What a world is made with.
pub struct WorldBuilder {
    root: Root,
    variables: Vec<(String, String)>,
    wrapper: Vec<String>,
}

impl WorldBuilder {
    /// Sets a variable of the daemon and of native commands.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the daemon by these words, before its own or, where one of them holds `{}`, in that place.
    #[must_use]
    pub fn wrapper(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Gives the daemon's user a configuration.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn configured(self, text: &str) -> Self {
        let file = self.root.path().join("home/.config/brattice/config.toml");
        fs::create_dir_all(file.parent().expect("it is in a folder"))
            .expect("a folder can be made");
        fs::write(&file, text).expect("a file can be written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
        self
    }

    /// The folder that the world will have.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Makes the folders and starts the daemon.
    ///
    /// # Panics
    /// When the daemon does not get ready.
    pub fn start(self) -> World {
        let mut world = World {
            root: self.root,
            variables: self.variables,
            wrapper: self.wrapper,
            daemon: None,
        };
        world.start();
        world
    }
}

/// A throw-away world.
pub struct World {
    root: Root,
    variables: Vec<(String, String)>,
    wrapper: Vec<String>,
    daemon: Option<Daemon>,
}

impl World {
    /// A world with nothing special about it.
    ///
    /// # Panics
    /// When the daemon does not get ready.
    pub fn new() -> World {
        World::builder().start()
    }

    /// A world with something special about it.
    pub fn builder() -> WorldBuilder {
        World::builder_on(Root::new())
    }

    /// A world whose folders lie in `/tmp`.
    pub fn builder_in_tmp() -> WorldBuilder {
        World::builder_on(Root::below(Path::new("/tmp")))
    }

    fn builder_on(root: Root) -> WorldBuilder {
        let folder = |name| root.folder(name).to_str().expect("the path is UTF-8").to_owned();
        let (ws, out, home) = (folder("ws"), folder("out"), folder("home"));
        for name in ["state", "run"] {
            folder(name);
        }
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let variables =
            [("PATH", path), ("LANG", "C.UTF-8"), ("HOME", &home), ("WS", &ws), ("OUT", &out)];
        WorldBuilder {
            variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            wrapper: Vec::new(),
            root,
        }
    }

    /// `$WS`: the workspace.
    pub fn ws(&self) -> PathBuf {
        self.root.path().join("ws")
    }

    /// `$OUT`: a folder outside every writable root.
    pub fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// `$HOME`: a home, outside every writable root.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The daemon's state folder.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// The agents' socket.
    pub fn socket(&self) -> PathBuf {
        self.root.path().join("run/b.sock")
    }

    /// The operators' socket.
    pub fn control(&self) -> PathBuf {
        self.root.path().join("run/c.sock")
    }

    /// The daemon.
    ///
    /// # Panics
    /// When it was ended.
    pub fn daemon(&mut self) -> &mut Daemon {
        self.daemon.as_mut().expect("the daemon runs")
    }

    /// The daemon's command line and environment.
    pub fn daemon_command(&self) -> Command {
        self.daemon_on(&self.state())
    }

    /// The same with another state folder.
    ///
    /// # Panics
    /// When the path is not UTF-8.
    pub fn daemon_on(&self, state: &Path) -> Command {
        let path = |path: PathBuf| path.to_str().expect("the path is UTF-8").to_owned();
        let words = [
            path(binaries::bratticed()),
            "--socket".to_owned(),
            path(self.socket()),
            "--control-socket".to_owned(),
            path(self.control()),
            "--state".to_owned(),
            path(state.to_owned()),
            "--allow-root".to_owned(),
        ];
        let line: Vec<String> = match self.wrapper.iter().any(|word| word.contains("{}")) {
            true => self.wrapper.iter().map(|word| word.replace("{}", &words.join(" "))).collect(),
            false => self.wrapper.iter().chain(&words).cloned().collect(),
        };
        let mut command = self.command(&line[0]);
        command.args(&line[1..]).current_dir(self.root.path());
        command
    }

    /// Starts the daemon again, after it was ended.
    ///
    /// # Panics
    /// When it does not get ready.
    pub fn start(&mut self) {
        let daemon = Daemon::start(
            self.daemon_command(),
            &self.socket(),
            &self.root.path().join("daemon.log"),
        );
        self.daemon = Some(daemon);
    }

    /// Kills the daemon with SIGKILL.
    ///
    /// # Panics
    /// When it was ended.
    pub fn kill_daemon(&mut self) {
        self.daemon().kill();
        self.daemon = None;
    }

    /// Kills the daemon with SIGKILL and starts another on the same state folder.
    ///
    /// # Panics
    /// When it was ended, or the next one does not get ready.
    pub fn restart(&mut self) {
        self.kill_daemon();
        self.start();
    }

    /// What the daemon logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.root.path().join("daemon.log")).unwrap_or_default()
    }

    /// A session in `$WS`, still to be opened.
    pub fn session(&self, mode: &str) -> Opening {
        Opening::new(self.socket(), &self.ws(), mode)
    }

    /// A session that lost its client, still to be resumed.
    pub fn resume(&self, session: &str) -> Opening {
        Opening::again(self.socket(), session)
    }

    /// The folder of a session.
    pub fn folder(&self, session: &str) -> PathBuf {
        self.state().join("sessions").join(session)
    }

    /// The supervisors that live, whichever daemon started them.
    pub fn supervisors(&self) -> Vec<Supervisor> {
        Supervisor::below(&self.state().join("sessions"))
    }

    /// The supervisor of a session.
    ///
    /// # Panics
    /// When it has none.
    #[track_caller]
    pub fn supervisor(&self, session: &str) -> Process {
        let found = self.supervisors().into_iter().find(|found| found.session == session);
        found.unwrap_or_else(|| panic!("no supervisor of {session} lives")).process
    }

    /// An operator who is there to answer questions and to judge plans.
    pub fn answerer(&self) -> Operator {
        Operator::attach(&self.control(), Answering::Questions)
    }

    /// An operator who is there to answer approvals.
    pub fn operator(&self) -> Operator {
        Operator::attach(&self.control(), Answering::Approvals)
    }

    /// The audit log so far: what of it tells of these events, in order.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn audited(&self, events: &[&str]) -> Vec<Value> {
        let answer = Wire::open(&self.control())
            .request("audit.tail", json!({"lines": 1000}))
            .expect("an operator reads the log");
        let lines = answer["lines"].as_array().expect("there are lines").clone();
        lines
            .into_iter()
            .filter(|line| events.iter().any(|event| line["event"] == *event))
            .collect()
    }

    /// A bare connection that has said hello.
    pub fn wire(&self) -> Wire {
        Wire::open(&self.socket())
    }

    /// What this machine can enforce.
    pub fn hello(&self) -> Hello {
        Wire::connect(&self.socket()).hello()
    }

    /// A program in `$WS` with this world's environment and no other.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        command.env_clear().envs(variables).current_dir(self.ws());
        command
    }

    /// Runs a shell text without any confinement, in `$WS`.
    ///
    /// # Panics
    /// When it does not end.
    pub fn native(&self, text: &str) -> Native {
        Native::run(self.command("/bin/bash").arg("-c").arg(text))
    }

    /// Prepares a case by a shell text, which must succeed.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn setup(&self, text: &str) {
        self.native(&format!("set -e\n{text}")).succeeded();
    }

    /// Writes a file into `$WS`.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, content: &str) {
        fs::write(self.ws().join(name), content).expect("the workspace can be written");
    }

    /// Living processes that have this world's environment.
    fn inhabitants(&self) -> Vec<Process> {
        let home = format!("HOME={}", self.home().display());
        let lives_here =
            |process: &Process| process.state != 'Z' && process.has_in_environment(&home);
        Process::all().into_iter().filter(lives_here).collect()
    }

    /// Processes that commands of this world started and that still live.
    pub fn strays(&self) -> Vec<Process> {
        let is_daemon = |process: &Process| {
            let program = process.program();
            program.is_some_and(|program| {
                program
                    .file_name()
                    .is_some_and(|name| name.as_encoded_bytes().starts_with(b"bratticed"))
            })
        };
        // Looked at again: one that is about to stand was its keeper's copy a moment ago.
        let stands =
            |process: &Process| Process::of(process.pid).is_none_or(|it| it.stands_ready());
        let is_none = |process: &Process| is_daemon(process) || stands(process);
        self.inhabitants().into_iter().filter(|process| !is_none(process)).collect()
    }

    /// Waits until no process that a command started lives.
    #[track_caller]
    pub fn is_quiet(&self) {
        eventually("no process of a command is left", || {
            let strays = self.strays();
            strays.is_empty().then_some(())
        });
    }

    /// The sessions that the daemon knows, as an operator sees them.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn sessions(&self) -> Vec<Value> {
        let answer = Wire::open(&self.control())
            .request("session.list", json!({}))
            .expect("sessions are listed");
        answer.as_array().expect("it is a list").clone()
    }

    /// Ends the daemon as an operator does and asserts that nothing is left: no process, no socket, no session.
    ///
    /// # Panics
    /// When something is left.
    #[track_caller]
    pub fn finish(mut self) {
        let mut daemon = self.daemon.take().expect("the daemon runs");
        let adopted = self.supervisors().into_iter().map(|found| found.process);
        let started: Vec<Process> =
            Process::below(daemon.pid()).into_iter().chain(adopted).collect();
        for session in self.sessions() {
            let params = json!({"session": session["session"]});
            Wire::open(&self.control())
                .request("session.close", params)
                .expect("an operator closes any session");
        }
        daemon.signal(rustix::process::Signal::TERM);
        daemon.wait();
        for process in &started {
            eventually(&format!("{process:?} ends"), || (!process.is_alive()).then_some(()));
        }
        self.is_quiet();
        let sessions = fs::read_dir(self.state().join("sessions")).into_iter().flatten().flatten();
        let left: Vec<PathBuf> = sessions.map(|entry| entry.path()).collect();
        assert_eq!(
            left,
            Vec::<PathBuf>::new(),
            "a closed session leaves nothing in the state folder"
        );
        assert!(!self.socket().exists() && !self.control().exists(), "the sockets are removed");
    }
}

impl Default for World {
    fn default() -> Self {
        World::new()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.end();
            if std::thread::panicking() && env::var_os("BRATTICE_TEST_LOG").is_some() {
                eprintln!("the daemon logged:\n{}", self.log());
            }
        }
        // What is killed may have started something since it was found.
        for _ in 0..100 {
            let supervisors = self.supervisors().into_iter().map(|found| found.process);
            let left: Vec<Process> = supervisors.chain(self.inhabitants()).collect();
            if left.is_empty() {
                return;
            }
            left.iter().for_each(Process::kill);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
