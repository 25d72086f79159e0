//! Colours and attributes that a command chose for its text (SGR, ECMA-48 8.3.117), as styles.
//!
//! Two attributes are left out: text that blinks, and text that is hidden.

use ratatui::style::{Color, Modifier, Style};
use vte::Params;

/// The style after a sequence of this kind.
pub(super) fn changed(style: Style, params: &Params) -> Style {
    let mut style = style;
    let mut groups = params.iter();
    while let Some(group) = groups.next() {
        style = match *group {
            [] | [0] => Style::new(),
            [38] => with(style, Style::fg, rest(&mut groups)),
            [48] => with(style, Style::bg, rest(&mut groups)),
            [38, ref colour @ ..] => with(style, Style::fg, in_group(colour)),
            [48, ref colour @ ..] => with(style, Style::bg, in_group(colour)),
            [4, 0] => style.remove_modifier(Modifier::UNDERLINED),
            [number, ..] => numbered(style, number),
        };
    }
    style
}

fn with(style: Style, set: fn(Style, Color) -> Style, colour: Option<Color>) -> Style {
    colour.map_or(style, |colour| set(style, colour))
}

fn numbered(style: Style, number: u16) -> Style {
    let on = |modifier| style.add_modifier(modifier);
    let off = |modifier| style.remove_modifier(modifier);
    match number {
        1 => on(Modifier::BOLD),
        2 => on(Modifier::DIM),
        3 => on(Modifier::ITALIC),
        4 | 21 => on(Modifier::UNDERLINED),
        7 => on(Modifier::REVERSED),
        9 => on(Modifier::CROSSED_OUT),
        22 => off(Modifier::BOLD | Modifier::DIM),
        23 => off(Modifier::ITALIC),
        24 => off(Modifier::UNDERLINED),
        27 => off(Modifier::REVERSED),
        29 => off(Modifier::CROSSED_OUT),
        30..=37 => style.fg(basic(number - 30)),
        39 => style.fg(Color::Reset),
        40..=47 => style.bg(basic(number - 40)),
        49 => style.bg(Color::Reset),
        90..=97 => style.fg(basic(number - 90 + 8)),
        100..=107 => style.bg(basic(number - 100 + 8)),
        _ => style,
    }
}

/// `38;5;n` and `38;2;r;g;b`: the numbers after the first are groups of their own.
fn rest<'a>(groups: &mut impl Iterator<Item = &'a [u16]>) -> Option<Color> {
    let mut next = || groups.next().and_then(|group| group.first()).copied();
    match next()? {
        5 => Some(Color::Indexed(byte(next()?)?)),
        2 => Some(Color::Rgb(byte(next()?)?, byte(next()?)?, byte(next()?)?)),
        _ => None,
    }
}

/// `38:5:n`, `38:2:r:g:b` and, with a colour space, `38:2::r:g:b`.
fn in_group(colour: &[u16]) -> Option<Color> {
    match *colour {
        [5, number] => Some(Color::Indexed(byte(number)?)),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => {
            Some(Color::Rgb(byte(red)?, byte(green)?, byte(blue)?))
        }
        _ => None,
    }
}

fn byte(number: u16) -> Option<u8> {
    u8::try_from(number).ok()
}

const fn basic(number: u16) -> Color {
    match number {
        0 => Color::Black,
        1 => Color::Red,
        2 => Color::Green,
        3 => Color::Yellow,
        4 => Color::Blue,
        5 => Color::Magenta,
        6 => Color::Cyan,
        7 => Color::Gray,
        8 => Color::DarkGray,
        9 => Color::LightRed,
        10 => Color::LightGreen,
        11 => Color::LightYellow,
        12 => Color::LightBlue,
        13 => Color::LightMagenta,
        14 => Color::LightCyan,
        _ => Color::White,
    }
}
