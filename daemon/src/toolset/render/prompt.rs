//! Whether the end of an output looks like a question that waits for an answer. A hint and no more: a program that
//! prints `Building:` and works for a minute looks the same.

use super::terminal::clean;

/// Questions with their answers, in lower case.
const CHOICES: [&str; 4] = ["[y/n]", "(y/n)", "[yes/no]", "(yes/no)"];

/// Whether a line that was begun and not ended asks for something. Escape sequences are no part of it.
pub(super) fn looks_like_prompt(line: &str) -> bool {
    let line = clean("", line).trim_end_matches(' ').to_ascii_lowercase();
    line.ends_with(['?', ':']) || CHOICES.iter().any(|choice| line.ends_with(choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t059_a_line_that_asks_is_a_prompt_and_a_finished_line_is_none() {
        for prompt in [
            "Password:",
            "login: ",
            "Overwrite?",
            "\u{1b}[1mName: \u{1b}[0m",
            "Proceed [y/N] ",
            "Go on [Y/n]",
            "Sure (yes/no)",
            "é [Yes/No]",
        ] {
            assert!(looks_like_prompt(prompt), "{prompt}");
        }
        for other in ["", " ", "Building…", "50%", "[y/n] done", "why? because"] {
            assert!(!looks_like_prompt(other), "{other}");
        }
    }
}
