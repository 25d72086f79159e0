//! `question.*`, on the control socket only: the questions and plans that are open, and an operator's answers; and `todo.list`.

use std::sync::Arc;

use brattice_protocol::RpcError;
use brattice_protocol::question::{QuestionList, QuestionRespond, QuestionSettled};
use brattice_protocol::session::SessionParams;
use brattice_protocol::todo::TodoList;

use super::{Methods, NoParams};
use crate::server::Connection;

impl Methods {
    pub(super) fn question_list(&self, NoParams {}: NoParams) -> QuestionList {
        self.registry.questions().list()
    }

    pub(super) fn question_respond(
        &self,
        from: &Arc<Connection>,
        params: QuestionRespond,
    ) -> Result<QuestionSettled, RpcError> {
        let QuestionRespond { id, response } = params;
        Ok(self.registry.questions().answer(&id, response, from.role().into())?)
    }

    pub(super) fn todo_list(
        &self,
        from: &Arc<Connection>,
        params: SessionParams,
    ) -> Result<TodoList, RpcError> {
        Ok(TodoList { todos: self.session(&params.session, from)?.todos() })
    }
}
