//! What the state of a session offers: the background, a wider mode, a plan's end, answers.

use brattice_policy::Mode;

/// Whether a session's tools may leave something running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// `run_in_background` is declared, and leftovers may become tasks.
    Offered,
    /// One of the tools that it takes is not declared.
    Withheld,
}

/// Whether a session's calls may ask for a wider mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscalationOffer {
    /// They may.
    Offered {
        /// The widest that may be asked for.
        ceiling: Mode,
    },
    /// Nobody is asked in this session.
    Withheld,
}

/// Whether a tool that takes a certain state is declared just then. It can be called in any, and says what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It is.
    Offered,
    /// It is not.
    #[default]
    Withheld,
}

impl Offer {
    /// One that depends on this.
    pub(crate) const fn when(is_so: bool) -> Self {
        if is_so { Offer::Offered } else { Offer::Withheld }
    }
}

/// What the state of a session offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// Plan mode is on, so that it can be left.
    pub(crate) plan: Offer,
    /// Somebody can answer questions.
    pub(crate) questions: Offer,
}

impl Offers {
    /// Whatever the state is.
    pub(crate) const ALL: Offers = Offers { plan: Offer::Offered, questions: Offer::Offered };
}
