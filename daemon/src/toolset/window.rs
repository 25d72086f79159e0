//! Which part of a finished command's stream a call shows, and so has to read.

use brattice_protocol::tools::Stream;

use super::definition::CONTEXT_BYTES;
use super::tool::SessionTools;
use super::wording::{Kept, ResultCap};

/// The most bytes of a character in UTF-8.
const CHARACTER_BYTES: usize = 4;

/// The part of a stream that a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The end: so many bytes at most.
    Tail(usize),
    /// The beginning: so many characters at most.
    Head(usize),
}

/// The part of a stream that is to be read for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The offset of the first byte.
    pub(crate) offset: u64,
    /// How many bytes at most.
    pub(crate) bytes: usize,
}

impl Window {
    /// What to read of a stream of so many bytes. Of an end, a little that comes before it as well.
    pub(crate) fn reading(self, length: u64) -> Reading {
        match self {
            Window::Tail(kept) => {
                let bytes = kept + CONTEXT_BYTES;
                Reading { offset: length.saturating_sub(bytes as u64), bytes }
            }
            Window::Head(characters) => {
                Reading { offset: 0, bytes: characters.saturating_mul(CHARACTER_BYTES) }
            }
        }
    }
}

impl SessionTools<'_> {
    /// Which part of a command's stream a call shows.
    pub(crate) fn window(self, stream: Stream) -> Window {
        let (toolset, cap) = (self.toolset(), self.cap());
        match (toolset.command.kept, stream, cap) {
            (Kept::Heads { stdout, .. }, Stream::Stdout, _) => Window::Head(stdout),
            (Kept::Heads { stderr, .. }, Stream::Stderr, _) => Window::Head(stderr),
            (Kept::Result, _, ResultCap::Characters(most, _)) => Window::Head(most),
            (Kept::Result, _, ResultCap::None) | (Kept::Tail, _, _) => {
                Window::Tail(toolset.output.kept_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use brattice_policy::Limits;
    use brattice_protocol::session::{Options, ToolsetName};

    use super::*;
    use crate::toolset::Toolset;

    #[test]
    fn windows_are_those_of_the_contract() {
        let windows = |name, options: &Options| {
            let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
            let tools = tools.opened_with(options);
            [Stream::Stdout, Stream::Stderr].map(|stream| tools.window(stream))
        };
        let options = Options::default();
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            assert_eq!(windows(name, &options), [Window::Tail(64_000); 2]);
        }
        assert_eq!(
            windows(ToolsetName::Glrs, &options),
            [Window::Head(20_000), Window::Head(9_000)]
        );
        assert_eq!(windows(ToolsetName::Minimal, &options), [Window::Head(8_000); 2]);
        let options = Options { max_output: Some(10), ..options };
        assert_eq!(windows(ToolsetName::Minimal, &options), [Window::Head(10); 2]);
    }

    #[test]
    fn a_reading_holds_the_window_whatever_its_characters() {
        assert_eq!(Window::Head(10).reading(1_000), Reading { offset: 0, bytes: 40 });
        assert_eq!(Window::Tail(10).reading(5_000), Reading { offset: 894, bytes: 4_106 });
        assert_eq!(Window::Tail(10).reading(7), Reading { offset: 0, bytes: 4_106 });
    }
}
