//! Whether somebody may be asked, and on which ground.

use crate::named::named;

named! {
    /// Whether somebody is asked where policy does not decide alone. The order is strict: `Never < Ask`, so that a ceiling
    /// narrows by the lesser of two.
    #[derive(Default)]
    pub enum Approval {
        /// Nobody is asked: what would be a question is refused at once.
        Never = "never",
        /// Who may answer is asked.
        #[default]
        Ask = "ask",
    }
}

named! {
    /// What an escalation needs.
    #[derive(Default)]
    pub enum Escalation {
        /// A recorded denial that the wider mode would lift.
        #[default]
        Grounded = "grounded",
        /// Nothing but a justification.
        Any = "any",
    }
}
