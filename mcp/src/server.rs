//! What rmcp asks of a server, for one bridge. Both eras: rmcp keeps their handshakes apart.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use crate::bridge::Bridge;
use crate::call::{self, Asked, Returned};
use crate::resources;

/// Methods that rmcp knows: a request for one whose parameters have another shape comes as a custom one.
const KNOWN: [&str; 7] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// A bridge as a server.
#[derive(Clone, Debug)]
pub struct Handler(pub Arc<Bridge>);

impl Handler {
    /// What a model is told of the session before it calls anything.
    fn instructions(&self) -> String {
        let session = self.0.session();
        format!(
            "Commands and changes of files happen in a sandbox: mode {}, workspace {}, network {}. What the sandbox refuses is \
             told in the result. A result that begins with `approval_required` means that a person must allow the call outside of \
             this client: tell them the command that it names, and make the very same call again afterwards. Whole outputs of \
             tasks are resources.",
            session.mode, session.workspace, session.network
        )
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let implementation =
            Implementation::new("brattice", env!("CARGO_PKG_VERSION")).with_title("Brattice");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ProtocolVersion::known_up_to(&ProtocolVersion::V_2026_07_28).into()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // There is one page.
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            return Err(ErrorData::invalid_params(format!("no cursor: {cursor:?}"), None));
        }
        Ok(ListToolsResult::with_all_items(self.0.tools().await?.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let asked = Asked { name: name.into_owned(), arguments: arguments.unwrap_or_default() };
        let returned = Returned { state: request_state, responses: input_responses };
        Ok(call::call(&self.0, asked, returned, &context).await)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(&self.0.link.attached().await?, cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.0.link.attached().await?, &request.uri).await.map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let params = params.unwrap_or_default();
        match (method.as_str(), params.get("name").and_then(Value::as_str)) {
            ("tools/call", Some(name)) if params.get("arguments").is_some() => {
                let arguments = params.get("arguments").unwrap_or(&Value::Null);
                let mut result = call::misshapen(&self.0, name, arguments).await;
                // As rmcp does with every result but those of custom requests.
                if context.protocol_version().is_none_or(|version| version.has_initialize()) {
                    result.result_type = None;
                }
                let result = serde_json::to_value(result);
                let unwritten =
                    |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
                result.map(CustomResult::new).map_err(unwritten)
            }
            (known, _) if KNOWN.contains(&known) => Err(ErrorData::invalid_params(
                format!("{known}: its parameters have another shape"),
                None,
            )),
            (unknown, _) => {
                Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, unknown.to_owned(), None))
            }
        }
    }
}
