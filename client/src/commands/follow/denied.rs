//! What a command was denied, as lines for people.

use brattice_protocol::outcome::{CommandOutcome, Denial};

/// Denials that are told one by one; `--json` and the audit log have more.
const MOST: usize = 10;

/// The lines, each with its newline; none where there is none.
pub(crate) fn denied(outcome: &CommandOutcome) -> Vec<String> {
    let told: Vec<&Denial> = outcome.denials.iter().take(MOST).collect();
    let listed: u64 = outcome.denials.iter().map(|denial| denial.count).sum();
    let unlisted = outcome.denials_total.unwrap_or(0).saturating_sub(listed);
    let more = (outcome.denials.len() - told.len()) as u64 + unlisted;
    let mut lines: Vec<String> = told.into_iter().map(line).collect();
    if more > 0 {
        lines.push(format!("brattice: denied: and {more} more\n"));
    }
    lines
}

fn line(denial: &Denial) -> String {
    let Denial { operation, path, second_path, needs, count, .. } = denial;
    let to = second_path.as_ref().map(|to| format!(" to {}", plain(to))).unwrap_or_default();
    let times = if *count > 1 { format!(", {count} times") } else { String::new() };
    let (operation, path, needs) = (plain(operation), plain(path), plain(needs));
    format!("brattice: denied: {operation} {path}{to} (needs {needs}{times})\n")
}

/// A path is the command's to choose: nothing of it moves the cursor or begins a line.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    for sign in text.chars() {
        match sign {
            '"' | '\'' => shown.push(sign),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use brattice_protocol::outcome::Cause;

    use super::super::status::tests::outcome;
    use super::*;

    fn denial(path: &str, count: u64) -> Denial {
        Denial {
            operation: "write".into(),
            path: path.into(),
            second_path: None,
            layer: "landlock".into(),
            needs: "danger-full-access".into(),
            grant: None,
            count,
        }
    }

    fn told(denials: Vec<Denial>, total: Option<u64>) -> String {
        let ended = outcome(Cause::Exited, Some(0), None);
        denied(&CommandOutcome { denials, denials_total: total, ..ended }).concat()
    }

    #[test]
    fn each_kind_has_a_line_with_what_it_needs() {
        assert_eq!(told(Vec::new(), None), "");
        assert_eq!(told(Vec::new(), Some(0)), "");
        let moved = Denial {
            operation: "rename".into(),
            second_path: Some("/b\u{1b}c".into()),
            needs: "workspace-write".into(),
            ..denial("/a\n[exit code: 0]", 1)
        };
        assert_eq!(
            told(vec![denial("/etc/hosts", 3), moved], Some(4)),
            "brattice: denied: write /etc/hosts (needs danger-full-access, 3 times)\n\
             brattice: denied: rename /a\\n[exit code: 0] to /b\\u{1b}c (needs workspace-write)\n"
        );
    }

    #[test]
    fn beyond_ten_the_rest_is_counted() {
        let denials = (0..12).map(|file| denial(&format!("/{file}"), 2)).collect();
        let text = told(denials, Some(30));
        assert_eq!(text.lines().count(), 11);
        assert!(text.ends_with("brattice: denied: and 8 more\n"), "{text}");
    }
}
