//! The terminal, taken and given back: raw, on its other screen, without a cursor, and with pasted text marked as such.
//!
//! It is given back when this is dropped, when a thread panics, and before the program is stopped by Ctrl-Z.

use std::io::{self, Stdout, Write as _};
use std::sync::Once;

use ratatui::backend::{Backend as _, ClearType, CrosstermBackend};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::{Rect, Size};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::termios::{QueueSelector, tcflush};

/// Of a terminal that tells no size.
const USUAL: Size = Size { width: 80, height: 24 };

/// The terminal, while it is ours.
pub(super) struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    /// Takes it.
    pub(super) fn enter() -> io::Result<Screen> {
        give_back_on_panic();
        take()?;
        let options = TerminalOptions { viewport: Viewport::Fixed(area(size())) };
        match Terminal::with_options(CrosstermBackend::new(io::stdout()), options) {
            Ok(terminal) => Ok(Screen(terminal)),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Takes it again after it was given back by [`give_back`].
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        take()?;
        self.resize(size())
    }

    /// Draws on all of it from now on, and what is there anew.
    pub(super) fn resize(&mut self, size: Size) -> io::Result<()> {
        // Not `Terminal::clear`, which asks the terminal where the cursor is: the answer would be one more input.
        self.0.backend_mut().clear_region(ClearType::All)?;
        self.0.resize(area(size))
    }

    /// Draws a frame: what differs from the one before.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        self.0.draw(draw).map(|_| ())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Its size.
pub(super) fn size() -> Size {
    match terminal::size() {
        Ok((width, height)) if width > 0 && height > 0 => Size { width, height },
        Ok(_) | Err(_) => USUAL,
    }
}

/// Throws away what was typed and not read yet.
pub(super) fn forget_typed() -> io::Result<()> {
    Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
}

fn area(size: Size) -> Rect {
    Rect { x: 0, y: 0, width: size.width, height: size.height }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    let taken = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide);
    taken.inspect_err(|_| give_back())
}

/// Gives it back. Nothing can be done about a terminal that does not take that, and whatever of it works is done.
pub(super) fn give_back() {
    let mut stdout = io::stdout();
    drop(execute!(stdout, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show));
    drop(stdout.flush());
    drop(disable_raw_mode());
}

/// A panic's words are for a terminal that shows them.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
}
