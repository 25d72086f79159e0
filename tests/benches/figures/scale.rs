//! How much is measured.

/// Set to 1, it asks for the small form.
const QUICK: &str = "BRATTICE_BENCH_QUICK";

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As much as makes a figure.
    Full,
    /// A thirtieth, to see that it can be had.
    Quick,
}

impl Scale {
    /// What the environment asks for.
    pub(crate) fn of_environment() -> Scale {
        match std::env::var(QUICK).as_deref() {
            Ok("1") => Scale::Quick,
            _ => Scale::Full,
        }
    }

    /// This many, or in the small form a thirtieth and at least one.
    pub(super) fn of(self, full: usize) -> usize {
        match self {
            Scale::Full => full,
            Scale::Quick => full.div_ceil(30),
        }
    }
}
