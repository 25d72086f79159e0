//! From a request to the exact words of an exec: arguments, environment, and the paths to try.

use std::ffi::{CString, NulError, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::exec::memory;
use crate::exec::message::Beginning;
use crate::exec::spec::Shell;
use brattice_protocol::task::TaskKind;

/// The descriptor on which bash finds its text.
pub(super) const TEXT: i32 = 9;

/// Reads the command's text from a descriptor and runs it, in the very variable in which `bash -c` keeps its own.
///
/// The text then stands in no argument list, may be as long as it likes, and `$0`, `$LINENO` and the prefix of error
/// messages are those of `bash -c`. What differs: `set -x` marks lines with `++`, and a syntax error says `eval:`.
const PROLOGUE: &str =
    r#"IFS= read -r -d "" BASH_EXECUTION_STRING <&9; exec 9<&-; eval -- "$BASH_EXECUTION_STRING""#;

/// The descriptor on which a shell that was started ahead is told its task's id.
pub(super) const TASK: i32 = 8;

/// The same in a shell that was started ahead: it waits for its task's id, which it finds in the environment otherwise. The
/// file that the text comes from is filled by then.
const PROLOGUE_WHEN_TOLD: &str = r#"IFS= read -r -d "" -u 8 BRATTICE_TASK_ID || exit; exec 8<&-; export BRATTICE_TASK_ID; SECONDS=0; IFS= read -r -d "" BASH_EXECUTION_STRING <&9; exec 9<&-; eval -- "$BASH_EXECUTION_STRING""#;

/// Where programs are looked for when the environment has no `PATH` (as bash does).
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why the words cannot be written down.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlanError {
    /// An argument, a variable or a path holds a NUL.
    #[error("a NUL byte in the program's arguments, environment or folder")]
    Nul(#[from] NulError),
    /// A memory file cannot be read.
    #[error("cannot read what was handed over")]
    Read(#[from] std::io::Error),
    /// No arguments at all.
    #[error("there is no program to run")]
    Empty,
}

/// What all of a mode's programs share, read once in the launcher and inherited by every keeper.
pub(super) struct Base {
    environment: Vec<Vec<u8>>,
    bash: PathBuf,
}

/// The words of one exec.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) candidates: Vec<CString>,
    pub(super) argv: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) directory: CString,
}

impl Base {
    /// Reads the base environment, `NAME=value` texts in a memory file.
    pub(super) fn read(environment: OwnedFd, bash: PathBuf) -> std::io::Result<Base> {
        Ok(Base { environment: memory::split(&memory::content(environment)?), bash })
    }

    /// Does ahead, while nobody waits, what a keeper can do before it knows its program.
    pub(super) fn prepared(&self) -> Result<Prepared<'_>, PlanError> {
        Ok(Prepared { base: self, environment: texts(self.environment.iter().cloned())? })
    }
}

/// A base whose environment is written down.
pub(super) struct Prepared<'a> {
    base: &'a Base,
    environment: Vec<CString>,
}

impl Prepared<'_> {
    /// Writes down an exec.
    pub(super) fn words(
        &self,
        (kind, shell, beginning): (TaskKind, Shell, Beginning),
        text: &OwnedFd,
        more: &[(String, String)],
        directory: &Path,
    ) -> Result<Words, PlanError> {
        let environment = self.merged(more)?;
        let (candidates, argv) = match kind {
            TaskKind::Bash => (
                vec![self.base.bash.clone()],
                ["bash", option(shell), prologue(beginning)]
                    .map(|word| word.as_bytes().to_vec())
                    .to_vec(),
            ),
            TaskKind::Argv => {
                let argv = memory::split(&memory::content(text.try_clone()?)?);
                let program = argv.first().ok_or(PlanError::Empty)?;
                (candidates(program, path_of(&environment)), argv)
            }
        };
        let candidates =
            candidates.into_iter().map(|path| path.into_os_string().into_encoded_bytes());
        Ok(Words {
            candidates: texts(candidates)?,
            argv: texts(argv)?,
            environment,
            directory: CString::new(directory.as_os_str().as_bytes())?,
        })
    }

    /// The base environment with more variables, later ones in place of earlier ones of the same name.
    fn merged(&self, more: &[(String, String)]) -> Result<Vec<CString>, NulError> {
        let is_replaced = |entry: &CString| {
            more.iter().any(|(name, _)| {
                entry
                    .to_bytes()
                    .strip_prefix(name.as_bytes())
                    .is_some_and(|rest| rest.first() == Some(&b'='))
            })
        };
        let kept = self.environment.iter().filter(|entry| !is_replaced(entry)).cloned().map(Ok);
        kept.chain(more.iter().map(|(name, value)| CString::new(format!("{name}={value}"))))
            .collect()
    }
}

const fn prologue(beginning: Beginning) -> &'static str {
    match beginning {
        Beginning::Now => PROLOGUE,
        Beginning::WhenTold => PROLOGUE_WHEN_TOLD,
    }
}

/// What makes bash run a text as this kind of shell.
const fn option(shell: Shell) -> &'static str {
    match shell {
        Shell::Plain => "-c",
        Shell::Login => "-lc",
    }
}

fn texts(words: impl IntoIterator<Item = Vec<u8>>) -> Result<Vec<CString>, NulError> {
    words.into_iter().map(CString::new).collect()
}

fn path_of(environment: &[CString]) -> &[u8] {
    environment
        .iter()
        .find_map(|entry| entry.to_bytes().strip_prefix(b"PATH="))
        .unwrap_or(DEFAULT_PATH.as_bytes())
}

/// The paths that execvp(3) would try: the name itself when it holds a slash, else in each folder of `PATH`.
fn candidates(program: &[u8], path: &[u8]) -> Vec<PathBuf> {
    let name = Path::new(OsStr::from_bytes(program));
    if program.contains(&b'/') {
        return vec![name.to_owned()];
    }
    let folders =
        path.split(|byte| *byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder)));
    folders
        .map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".").join(name)
            } else {
                folder.join(name)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(environment: &[&str]) -> Base {
        Base {
            environment: environment.iter().map(|text| text.as_bytes().to_vec()).collect(),
            bash: "/bin/bash".into(),
        }
    }

    #[test]
    fn later_variables_replace_earlier_ones_of_the_same_name_only() {
        let merged = base(&["A=1", "AB=2", "C=3"])
            .prepared()
            .unwrap()
            .merged(&[("A".into(), "x".into()), ("D".into(), "y".into())]);
        assert_eq!(merged.unwrap(), [c"AB=2", c"C=3", c"A=x", c"D=y"].map(CString::from));
    }

    #[test]
    fn the_text_of_a_command_is_in_no_argument() {
        let text = memory::file("text", b"echo secret").unwrap();
        let cases = [
            (Shell::Plain, Beginning::Now, c"-c", PROLOGUE),
            (Shell::Login, Beginning::Now, c"-lc", PROLOGUE),
            (Shell::Plain, Beginning::WhenTold, c"-c", PROLOGUE_WHEN_TOLD),
        ];
        for (shell, beginning, option, prologue) in cases {
            let words = base(&[])
                .prepared()
                .unwrap()
                .words((TaskKind::Bash, shell, beginning), &text, &[], Path::new("/"))
                .unwrap();
            assert_eq!(
                words.argv,
                [c"bash", option, CString::new(prologue).unwrap().as_c_str()].map(CString::from)
            );
            assert_eq!(words.candidates, [CString::from(c"/bin/bash")]);
        }
    }

    #[test]
    fn a_program_is_looked_for_along_the_path() {
        let text = memory::file("argv", &memory::join([b"ls".to_vec(), b"-l".to_vec()])).unwrap();
        let words = base(&["PATH=/a::/b"])
            .prepared()
            .unwrap()
            .words((TaskKind::Argv, Shell::Plain, Beginning::Now), &text, &[], Path::new("/ws"))
            .unwrap();
        assert_eq!(words.candidates, [c"/a/ls", c"./ls", c"/b/ls"].map(CString::from));
        assert_eq!(words.argv, [c"ls", c"-l"].map(CString::from));
        assert_eq!(candidates(b"./x", b"/a"), [PathBuf::from("./x")]);
    }
}
