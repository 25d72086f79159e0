//! `tools.*`: declarations, calls and their withdrawal.

use std::sync::Arc;

use brattice_protocol::RpcError;
use brattice_protocol::task::Empty;
use brattice_protocol::tools::{CallParams, CancelParams, ListParams, ToolList};
use serde_json::Value;

use super::Methods;
use crate::server::{Body, Connection};
use crate::toolset::{Offers, declarations, format};

impl Methods {
    pub(super) async fn tools_list(
        &self,
        from: &Arc<Connection>,
        params: ListParams,
    ) -> Result<ToolList, RpcError> {
        let session = self.session(&params.session, from)?;
        let shape = params.format.unwrap_or_default();
        let skills = session.find_skills().await;
        let tools = session.tools().with_skills(&skills);
        let declared = declarations(match params.withheld {
            true => tools.with_offers(Offers::ALL),
            false => tools,
        });
        Ok(ToolList { tools: declared.iter().map(|tool| format(tool, shape)).collect() })
    }

    pub(super) async fn tools_call(
        &self,
        from: &Arc<Connection>,
        params: CallParams<Value>,
    ) -> Result<Body, RpcError> {
        let session = self.session(&params.session, from)?;
        self.stages.admit()?;
        let _attending = session.attend(from);
        crate::tools::call(&session, params, from).await
    }

    pub(super) fn tools_cancel(
        &self,
        from: &Arc<Connection>,
        params: CancelParams,
    ) -> Result<Empty, RpcError> {
        self.session(&params.session, from)?.calls().cancel(&params.call);
        Ok(Empty {})
    }
}
