//! From the words after `--` to what the daemon runs.

use std::ffi::OsString;

use super::failure::Failure;

/// What runs: exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// A line for bash.
    pub(crate) command: Option<String>,
    /// A program and its arguments.
    pub(crate) argv: Option<Vec<String>>,
}

impl Program {
    /// One word is a line for bash, several are a program and its arguments.
    pub(crate) fn of(words: Vec<OsString>) -> Result<Self, Failure> {
        let words: Vec<String> = words
            .into_iter()
            .map(|word| word.into_string().map_err(Failure::NotUtf8))
            .collect::<Result<_, _>>()?;
        Ok(match <[String; 1]>::try_from(words) {
            Ok([line]) => Program { command: Some(line), argv: None },
            Err(words) => Program { command: None, argv: Some(words) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str]) -> (Option<String>, Option<Vec<String>>) {
        let program = Program::of(words.iter().map(Into::into).collect()).unwrap();
        (program.command, program.argv)
    }

    #[test]
    fn one_word_is_a_line_for_the_shell_and_several_are_words() {
        assert_eq!(program(&["ls | wc -l"]), (Some("ls | wc -l".to_owned()), None));
        let words = vec!["ls".to_owned(), "-l".to_owned()];
        assert_eq!(program(&["ls", "-l"]), (None, Some(words)));
    }
}
