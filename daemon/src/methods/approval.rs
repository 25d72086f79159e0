//! `approval.*`, on the control socket only: the questions that are open, and an operator's answers.

use std::sync::Arc;

use brattice_protocol::approval::{ApprovalList, ApprovalSettled, MAX_REASON, RespondParams};
use brattice_protocol::{ErrorCode, RpcError};

use super::{Methods, NoParams};
use crate::server::Connection;

impl Methods {
    pub(super) fn approval_list(&self, NoParams {}: NoParams) -> ApprovalList {
        self.registry.desk().list()
    }

    pub(super) fn approval_respond(
        &self,
        from: &Arc<Connection>,
        params: RespondParams,
    ) -> Result<ApprovalSettled, RpcError> {
        let RespondParams { id, option, reason } = params;
        if let Some(came) = reason.as_ref().map(String::len).filter(|came| *came > MAX_REASON) {
            let text = format!("params.reason: expected at most {MAX_REASON} bytes, got {came}");
            return Err(RpcError::new(ErrorCode::Invalid, text));
        }
        Ok(self.registry.desk().answer(&id, option, from.role().into(), reason)?)
    }
}
