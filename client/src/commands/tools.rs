//! `brattice tools`: what a session of a toolset declares.

use std::process::ExitCode;

use brattice_protocol::session::OpenParams;
use brattice_protocol::tools::{ListParams, Tool};
use serde_json::Value;

use super::temporary::in_session;
use crate::cli::arguments::{Confinement, Tools};
use crate::cli::terminal::Style;
use crate::cli::{Context, Failure};

/// Shows the declarations; as JSON where a shape or `--json` was asked for.
pub(crate) async fn tools(context: &Context, arguments: Tools) -> Result<ExitCode, Failure> {
    let Tools { toolset, format, workspace } = arguments;
    let confinement = Confinement { workspace, ..Confinement::default() };
    let params = OpenParams { toolset, ..confinement.open_params("brattice tools")? };
    let client = context.agent().await?;
    let declared = in_session(&client, &params, async |session, interrupts| {
        let params = ListParams { session: session.session.clone(), format, withheld: true };
        interrupts.guard(client.tools_list(&params)).await
    })
    .await?;
    let shown = match format {
        Some(_) => context.for_programs(),
        None => context.clone(),
    };
    shown.show("the tools", &declared.tools, |style| {
        declared.tools.iter().map(|tool| describe(tool, style)).collect::<Vec<_>>().join("\n")
    })
}

/// A tool for people. One whose shape this version does not know is shown as it came.
fn describe(declaration: &Value, style: Style) -> String {
    match serde_json::from_value::<Tool>(declaration.clone()) {
        Ok(tool) => {
            let description: String =
                tool.description.lines().map(|line| format!("  {line}\n")).collect();
            format!("{} ({})\n{description}", style.bold(&tool.name), tool.title)
        }
        Err(_) => format!("{declaration:#}\n"),
    }
}
