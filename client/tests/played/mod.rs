//! A daemon that a test plays.

mod daemon;

pub(crate) use daemon::{Ends, Opens, Played, Script};
