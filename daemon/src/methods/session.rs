//! `session.*`: opening, resuming, changing, listing and closing.

use std::sync::Arc;

use brattice_protocol::RpcError;
use brattice_protocol::session::{
    OpenParams, Session, SessionParams, SessionSummary, Turn, UpdateParams,
};
use brattice_protocol::task::Empty;

use super::{Methods, NoParams};
use crate::server::{Connection, check_opening};
use crate::session::{Changes, Planning};

impl Methods {
    pub(super) async fn open(
        &self,
        from: &Arc<Connection>,
        params: OpenParams,
    ) -> Result<Session, RpcError> {
        self.stages.admit()?;
        check_opening(&params)?;
        Ok(self.registry.open(params, from).await?.describe())
    }

    pub(super) fn resume(
        &self,
        from: &Arc<Connection>,
        params: SessionParams,
    ) -> Result<Session, RpcError> {
        Ok(self.registry.resume(&params.session, from)?.describe())
    }

    pub(super) async fn update(
        &self,
        from: &Arc<Connection>,
        params: UpdateParams,
    ) -> Result<Session, RpcError> {
        let session = self.session(&params.session, from)?;
        let UpdateParams { session: _, mode, approval, plan } = params;
        let changes = Changes { mode, approval, planning: plan.map(Planning::of) };
        if changes != Changes::default() {
            session.update(changes, from.role().into()).await?;
        }
        Ok(session.describe())
    }

    pub(super) fn turn(
        &self,
        from: &Arc<Connection>,
        params: SessionParams,
    ) -> Result<Turn, RpcError> {
        Ok(Turn { counters: self.session(&params.session, from)?.turn() })
    }

    pub(super) async fn close(
        &self,
        from: &Arc<Connection>,
        params: SessionParams,
    ) -> Result<Empty, RpcError> {
        self.registry.close(&params.session, from).await?;
        Ok(Empty {})
    }

    pub(super) fn list(
        &self,
        from: &Arc<Connection>,
        NoParams {}: NoParams,
    ) -> Vec<SessionSummary> {
        self.registry.list(from)
    }
}
