//! What things look like: by what they are, and without colours where those are not wanted.

use ratatui::style::{Color, Modifier, Style};

use crate::cli::terminal;

/// Whether there are colours. Bold, dim and reversed there are always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// `NO_COLOR`.
    Plain,
    /// The terminal's own sixteen, so that its owner's choice of them holds.
    Coloured,
}

impl Theme {
    /// What standard output wants.
    pub(crate) fn of_stdout() -> Theme {
        match terminal::Style::of_stdout() {
            terminal::Style::Plain => Theme::Plain,
            terminal::Style::Coloured => Theme::Coloured,
        }
    }

    /// What went well.
    pub(super) fn good(self) -> Style {
        self.colour(Color::Green)
    }

    /// What did not.
    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red)
    }

    /// What wants attention.
    pub(super) fn urgent(self) -> Style {
        self.colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// What stands behind the rest.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What matters most.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What keys are for.
    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A style that a command chose.
    pub(super) fn own(self, style: Style) -> Style {
        match self {
            Theme::Coloured => style,
            Theme::Plain => Style { fg: None, bg: None, ..style },
        }
    }

    fn colour(self, colour: Color) -> Style {
        match self {
            Theme::Plain => Style::new(),
            Theme::Coloured => Style::new().fg(colour),
        }
    }
}
