//! A terminal that remembers what it shows: a tmux server of a test's own.

use std::path::PathBuf;
use std::process::Command;

use brattice_tests::{Native, World, brattice, eventually};

/// A terminal in which something runs.
pub(crate) struct Terminal {
    socket: PathBuf,
    /// What every command to the server is made of.
    base: Box<dyn Fn() -> Command + Send>,
    ids: Vec<String>,
}

impl Terminal {
    /// One in which `brattice attach` runs, with these variables beside those of the world.
    pub(crate) fn showing(world: &World, variables: &[&str], columns: u16, lines: u16) -> Terminal {
        let line = format!("exec env {} {} attach", variables.join(" "), quoted(&brattice()));
        Terminal::running(world, &line, columns, lines)
    }

    /// One in which a shell waits for commands. `$BRATTICE` is the program.
    pub(crate) fn with_shell(world: &World) -> Terminal {
        let line =
            format!("BRATTICE={} PS1='> ' exec bash --norc --noprofile -i", quoted(&brattice()));
        let terminal = Terminal::running(world, &line, 200, 40);
        terminal.until("the shell's prompt", |screen| screen.starts_with('>'));
        terminal
    }

    fn running(world: &World, line: &str, columns: u16, lines: u16) -> Terminal {
        let socket = world.out().join("tmux");
        let program = ["/usr/bin/tmux", "-S", socket.to_str().unwrap(), "-f", "/dev/null"];
        let mut environment = world.command("env");
        environment
            .env("BRATTICE_SOCKET", world.socket())
            .env("BRATTICE_CONTROL_SOCKET", world.control())
            .env("BRATTICE_STATE", world.state());
        let variables: Vec<_> = environment
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let (folder, program) = (world.ws(), program.map(str::to_owned));
        let base = Box::new(move || {
            let mut command = Command::new(&program[0]);
            command.args(&program[1..]).env_clear().envs(variables.clone()).current_dir(&folder);
            command
        });
        let ids = world.sessions();
        let ids = ids.iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect();
        let terminal = Terminal { socket, base, ids };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        terminal.tmux(&["new-session", "-d", "-x", &columns, "-y", &lines, line]);
        terminal
    }

    /// Gives tmux a command, and what it says.
    pub(crate) fn tmux(&self, words: &[&str]) -> String {
        Native::run((self.base)().args(words)).succeeded().stdout.clone()
    }

    /// Presses keys: each a sign, or one of tmux's names.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", "0"], keys].concat());
    }

    /// Types a text.
    pub(crate) fn type_in(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "0", "-l", text]);
    }

    /// What is on the screen: its lines without blanks at their ends.
    pub(crate) fn screen(&self) -> String {
        let text = self.tmux(&["capture-pane", "-p", "-t", "0"]);
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// The same with the sequences that make its colours.
    pub(crate) fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e", "-t", "0"])
    }

    /// What tmux knows of the terminal, such as `alternate_on`.
    pub(crate) fn fact(&self, name: &str) -> String {
        self.tmux(&["display-message", "-p", "-t", "0", &format!("#{{{name}}}")]).trim().to_owned()
    }

    /// The screen, once it is so.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(what, || {
                last = self.screen();
                is_so(&last).then(|| last.clone())
            })
        }));
        shown.unwrap_or_else(|_| panic!("waited in vain for {what}; the screen shows\n{last}"))
    }

    /// Waits until a text is on it.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until a text is not on it any more.
    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    /// Waits until the whole screen is that, but for ids and times: see [`Terminal::plain`].
    #[track_caller]
    pub(crate) fn is(&self, expected: &str) {
        let expected = expected.trim_start_matches('\n');
        let screen = self.until_or_last(|screen| self.plain(screen) == expected);
        assert_eq!(self.plain(&screen), expected, "the screen is\n{screen}");
    }

    fn until_or_last(&self, is_so: impl Fn(&str) -> bool) -> String {
        let start = std::time::Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) || start.elapsed() > brattice_tests::PATIENCE {
                return screen;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// A screen in which sessions that were there when the terminal was opened are `SESSION1` and so on, as much of their ids
    /// as is shown, times are `#s`, and blanks before a rule and
    /// the signs of a line are one.
    fn plain(&self, screen: &str) -> String {
        let lines = screen.lines().map(|line| {
            let words: Vec<String> = line.split(' ').map(|word| self.unnamed(word)).collect();
            let mut line = timeless(&words.join(" "));
            while line.contains("──") {
                line = line.replace("──", "─");
            }
            match line.split_once('│') {
                Some((lists, rest)) => format!("{} │{rest}\n", lists.trim_end()),
                None => format!("{line}\n"),
            }
        });
        lines.collect()
    }

    /// A word that is the beginning of a session's id, and of no other's, by the session's number.
    fn unnamed(&self, word: &str) -> String {
        let (mark, shown) =
            word.split_at(if word.starts_with('▸') { '▸'.len_utf8() } else { 0 });
        let is_shown = |id: &&String| shown.len() >= 8 && id.starts_with(shown);
        let mut numbers =
            (1..).zip(&self.ids).filter(|(_, id)| is_shown(id)).map(|(number, _)| number);
        match (numbers.next(), numbers.next()) {
            (Some(number), None) => format!("{mark}SESSION{number}"),
            _ => word.to_owned(),
        }
    }

    /// The process that runs in it.
    pub(crate) fn pid(&self) -> u32 {
        self.fact("pane_pid").parse().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A server whose last program ended is gone already.
        drop((self.base)().arg("kill-server").output());
        eventually("the terminal ends", || (!is_served(&self.socket)).then_some(()));
    }
}

fn is_served(socket: &std::path::Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

/// A line in which `12s` and `1m 3s` are `#s`.
fn timeless(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let is_time = |unit: char| {
            word.strip_suffix(unit).is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
            })
        };
        match (is_time('s'), words.last().map(String::as_str)) {
            (true, Some("#m")) => *words.last_mut().unwrap() = "#s".to_owned(),
            (true, _) => words.push("#s".to_owned()),
            (false, _) if is_time('m') => words.push("#m".to_owned()),
            (false, _) => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

fn quoted(path: &std::path::Path) -> String {
    format!("'{}'", path.to_str().unwrap())
}
