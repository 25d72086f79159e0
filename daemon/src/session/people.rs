//! Who can answer a session's questions, and what its tools are by that.

use std::sync::Arc;

use brattice_protocol::hello::Answers;

use super::session::Session;
use crate::question::Desk;
use crate::toolset::{Offer, Offers};

impl Session {
    /// The open questions and plans of all sessions.
    pub(crate) fn questions(&self) -> &Arc<Desk> {
        &self.shared.questions
    }

    /// Which tools its state offers now.
    pub(super) fn offers(&self) -> Offers {
        let can_answer = self.client_answers() || self.questions().is_attended(Answers::Question);
        let plan = Offer::when(self.planning().is_on());
        Offers { plan, questions: Offer::when(can_answer) }
    }

    /// An operator who answers questions is there now and none was, or the other way round.
    pub(super) fn attendance_changed(&self) {
        if !self.client_answers() && self.toolset().asks() {
            self.tools_changed();
        }
    }

    /// Whether the client that holds it answers questions itself. An MCP bridge says so whatever its client shows, which it learns
    /// later; its list of tools is fixed, and what cannot be asked after all is told at the call.
    fn client_answers(&self) -> bool {
        let client = self.audience();
        client.is_some_and(|client| client.answers(Answers::Question) && client.is_open())
    }
}
