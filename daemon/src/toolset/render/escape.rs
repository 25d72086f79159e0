//! What characters ask a terminal to do: the grammar of ECMA-48 control sequences, as far as a line of output needs
//! it. Doing it is left to `terminal`.
//!
//! ```text
//!            ESC ┌──────────┐ [        ┌─────┐ final byte
//!   ground ─────▶│  escape  │─────────▶│ CSI │───────────▶ ground
//!      ▲         └──────────┘          └─────┘
//!      │ final      │ │ ] P X ^ _      ┌────────┐ BEL, ESC \
//!      └────────────┘ └───────────────▶│ string │───────────▶ ground
//!                                      └────────┘
//! ```
//! Whatever does not belong into a sequence ends it and counts as itself. So a sequence that never ends hides at most
//! the rest of its line.

const ESC: char = '\u{1b}';
const BELL: char = '\u{7}';

/// What a character asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing: it is a part of a sequence, or a control character without effect on text.
    Nothing,
    /// Itself.
    Print(char),
    /// The end of the line.
    LineFeed,
    /// To the line's start.
    Return,
    /// Some columns back.
    Back(usize),
    /// Erase from here to the line's end.
    EraseToEnd,
    /// Erase the whole line.
    EraseLine,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    Intermediate,
    Csi(Parameters),
    Text,
    TextEscape,
}

/// The parameters of a control sequence: its number, if it has at most one and nothing else.
#[derive(Clone, Copy, Debug)]
enum Parameters {
    Number(usize),
    Others,
}

/// Reads characters and says what each asks for.
#[derive(Debug, Default)]
pub(super) struct Parser {
    state: State,
}

impl Parser {
    /// Takes the next character.
    pub(super) fn feed(&mut self, character: char) -> Action {
        match self.state {
            State::Ground => self.ground(character),
            State::Escape => self.escape(character),
            State::Intermediate => match character {
                ' '..='/' => Action::Nothing,
                '0'..='~' => self.end(Action::Nothing),
                _ => self.ground(character),
            },
            State::Csi(parameters) => self.csi(parameters, character),
            State::Text => match character {
                BELL | '\u{9c}' => self.end(Action::Nothing),
                ESC => self.enter(State::TextEscape),
                '\n' | '\r' | '\u{18}' | '\u{1a}' => self.ground(character),
                _ => Action::Nothing,
            },
            State::TextEscape => match character {
                '\\' => self.end(Action::Nothing),
                _ => self.escape(character),
            },
        }
    }

    fn enter(&mut self, state: State) -> Action {
        self.state = state;
        Action::Nothing
    }

    fn end(&mut self, action: Action) -> Action {
        self.state = State::Ground;
        action
    }

    fn ground(&mut self, character: char) -> Action {
        match character {
            ESC => self.enter(State::Escape),
            '\n' => self.end(Action::LineFeed),
            '\r' => self.end(Action::Return),
            '\u{8}' => self.end(Action::Back(1)),
            '\t' => self.end(Action::Print(character)),
            // C1 controls are dropped one by one: as introducers they would swallow text that was decoded twice.
            _ if character.is_control() => self.end(Action::Nothing),
            _ => self.end(Action::Print(character)),
        }
    }

    fn escape(&mut self, character: char) -> Action {
        match character {
            '[' => self.enter(State::Csi(Parameters::Number(0))),
            ']' | 'P' | 'X' | '^' | '_' => self.enter(State::Text),
            ' '..='/' => self.enter(State::Intermediate),
            '0'..='~' => self.end(Action::Nothing),
            _ => self.ground(character),
        }
    }

    fn csi(&mut self, parameters: Parameters, character: char) -> Action {
        match (parameters, character) {
            (Parameters::Number(number), '0'..='9') => {
                let digit = character.to_digit(10).map_or(0, |digit| digit as usize);
                let number = number.saturating_mul(10).saturating_add(digit);
                self.enter(State::Csi(Parameters::Number(number)))
            }
            (_, ' '..='?') => self.enter(State::Csi(Parameters::Others)),
            (Parameters::Number(number), '@'..='~') => self.end(effect(character, number)),
            (Parameters::Others, '@'..='~') => self.end(Action::Nothing),
            _ => self.ground(character),
        }
    }
}

/// The effect of a control sequence on its line. Moves to other lines, to columns beyond the first, and attributes
/// have none.
fn effect(last: char, number: usize) -> Action {
    match (last, number) {
        ('K' | 'J', 0) => Action::EraseToEnd,
        ('K', 2) => Action::EraseLine,
        ('G', 0 | 1) => Action::Return,
        ('D', _) => Action::Back(number.max(1)),
        _ => Action::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(text: &str) -> Vec<Action> {
        let mut parser = Parser::default();
        text.chars()
            .map(|character| parser.feed(character))
            .filter(|action| *action != Action::Nothing)
            .collect()
    }

    fn printed(text: &str) -> String {
        actions(text)
            .into_iter()
            .filter_map(|action| match action {
                Action::Print(character) => Some(character),
                Action::LineFeed => Some('\n'),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn sequences_print_nothing() {
        for sequence in [
            "\x1b[31m",
            "\x1b[0;1;38:5:200m",
            "\x1b[?25l",
            "\x1b[>c",
            "\x1b[!p",
            "\x1b[2 q",
            "\x1b[H",
            "\x1b]0;title\x07",
            "\x1b]8;;http://x\x1b\\",
            "\x1bPq#0\x1b\\",
            "\x1bXsos\x1b\\",
            "\x1b^pm\x1b\\",
            "\x1b_apc\x1b\\",
            "\x1b(B",
            "\x1b#8",
            "\x1b7",
            "\x1bM",
            "\x1b=",
            "\x1b\x1b[m",
            "\x07",
            "\x0e",
            "\x0f",
            "\x0b",
            "\x0c",
            "\x7f",
            "\u{85}",
            "\u{9b}",
        ] {
            assert_eq!(printed(&format!("a{sequence}b")), "ab", "{sequence:?}");
        }
    }

    #[test]
    fn what_moves_on_the_line_is_told() {
        for (text, action) in [
            ("\r", Action::Return),
            ("\x1b[G", Action::Return),
            ("\x1b[1G", Action::Return),
            ("\x08", Action::Back(1)),
            ("\x1b[D", Action::Back(1)),
            ("\x1b[12D", Action::Back(12)),
            ("\x1b[K", Action::EraseToEnd),
            ("\x1b[0K", Action::EraseToEnd),
            ("\x1b[J", Action::EraseToEnd),
            ("\x1b[2K", Action::EraseLine),
            ("\t", Action::Print('\t')),
        ] {
            assert_eq!(actions(text), [action], "{text:?}");
        }
        for text in ["\x1b[1K", "\x1b[2J", "\x1b[7G", "\x1b[2;1K", "\x1b[?K", "\x1b[A"] {
            assert_eq!(actions(text), [], "{text:?}");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_hides_no_more_than_its_line() {
        assert_eq!(printed("\x1b]0;title\nnext"), "\nnext");
        assert_eq!(printed("\x1b[31\nnext"), "\nnext");
        assert_eq!(printed("\x1b[31é"), "é");
        assert_eq!(printed("\x1b(\nnext"), "\nnext");
        assert_eq!(printed("\x1bPabc\x18next"), "next");
        assert_eq!(printed("\x1b]0;t\x1b[31mred"), "red");
        assert_eq!(printed("\x1b"), "");
        assert_eq!(printed("\x1b\u{e9}"), "é");
    }

    #[test]
    fn a_huge_number_saturates() {
        let text = format!("\x1b[{}D", "9".repeat(100));
        assert_eq!(actions(&text), [Action::Back(usize::MAX)]);
    }
}
