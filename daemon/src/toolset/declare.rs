//! The declarations of a session's tools, in MCP's shape and in those of two model vendors. Numbers in the
//! descriptions come from the toolset, so that they cannot differ from what applies.

use brattice_protocol::tools::{Annotations, Tool, ToolFormat};
use serde_json::{Map, Value, json};

use super::arguments::MAX_COMMAND_BYTES;
use super::definition::{Toolset, UnknownArguments};
use super::parameter::Presence;

/// The name of the tool that runs commands.
const BASH: &str = "bash";

/// A call's tool that the session does not declare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool `{name}`: expected one of {declared}")]
pub(crate) struct UnknownTool {
    /// The name, shortened.
    name: String,
    /// The session's tools.
    declared: String,
}

/// A tool that a session can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command.
    Bash,
}

impl ToolKind {
    /// Every tool, in the order of declaration.
    const ALL: [ToolKind; 1] = [ToolKind::Bash];

    /// The name that a call uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ToolKind::Bash => BASH,
        }
    }

    fn declaration(self, toolset: &Toolset) -> Tool {
        match self {
            ToolKind::Bash => bash(toolset),
        }
    }
}

/// The tools of a session, less those that it disabled.
fn enabled(disable: &[String]) -> impl Iterator<Item = ToolKind> {
    ToolKind::ALL.into_iter().filter(|tool| !disable.iter().any(|name| name == tool.name()))
}

/// The declarations of a session's tools, in the toolset's order.
pub(crate) fn declarations(toolset: &Toolset, disable: &[String]) -> Vec<Tool> {
    enabled(disable).map(|tool| tool.declaration(toolset)).collect()
}

/// The tool of that name among those that a session declares.
pub(crate) fn find(disable: &[String], name: &str) -> Result<ToolKind, UnknownTool> {
    enabled(disable).find(|tool| tool.name() == name).ok_or_else(|| {
        let declared: Vec<_> = enabled(disable).map(|tool| format!("`{}`", tool.name())).collect();
        UnknownTool {
            name: name.chars().take(60).collect(),
            declared: if declared.is_empty() { "none".to_owned() } else { declared.join(", ") },
        }
    })
}

/// A declaration in the shape that was asked for.
pub(crate) fn format(tool: &Tool, format: ToolFormat) -> Value {
    let Tool { name, title, description, input_schema, annotations } = tool;
    match format {
        ToolFormat::Mcp => json!({
            "name": name,
            "title": title,
            "description": description,
            "inputSchema": input_schema,
            "annotations": {
                "readOnlyHint": annotations.read_only_hint,
                "destructiveHint": annotations.destructive_hint,
                "idempotentHint": annotations.idempotent_hint,
                "openWorldHint": annotations.open_world_hint,
            },
        }),
        ToolFormat::Openai => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": input_schema},
        }),
        ToolFormat::Anthropic => {
            json!({"name": name, "description": description, "input_schema": input_schema})
        }
    }
}

fn bash(toolset: &Toolset) -> Tool {
    Tool {
        name: BASH.to_owned(),
        title: "Run a command".to_owned(),
        description: bash_description(toolset),
        input_schema: bash_schema(toolset),
        // The worst that a mode allows: the mode can change after the declaration was read.
        annotations: Annotations {
            read_only_hint: false,
            destructive_hint: true,
            idempotent_hint: false,
            open_world_hint: true,
        },
    }
}

fn bash_schema(toolset: &Toolset) -> Value {
    let parameters = toolset.bash.parameters;
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.presence == Presence::Required)
        .map(|parameter| parameter.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if toolset.bash.unknown == UnknownArguments::Refuse {
        schema["additionalProperties"] = Value::Bool(false);
    }
    schema
}

fn bash_description(toolset: &Toolset) -> String {
    let Toolset { limits, grace, output, .. } = toolset;
    format!(
        "\
Runs a command in bash within the session's sandbox and returns what it printed.

Each call is a fresh `bash -c`: files stay, but no directory change, variable or function outlives the call. \
Standard input is empty and there is no terminal, so a program that asks gets no answer; use its options that \
avoid questions. What may be read, written and reached is decided by the session's sandbox mode; an access that \
it forbids fails inside the command with an ordinary error such as `Permission denied`.

Limits: the command may be {command} bytes long and hold anything but NUL. It is stopped after `timeoutMs` \
milliseconds ({default} unless given, {max} at most): SIGTERM to everything that it started, SIGKILL {grace} s \
later to what is left. The call returns when the shell exits; processes that it left in the background are \
stopped. Of each stream the last {kept} bytes are shown.

Result: standard output, then, if there is any, a line `[stderr]` and standard error; `(no output)` if nothing \
was printed. Bytes that are not UTF-8 are shown as U+FFFD. {output} These lines may follow, each added by the \
tool and not printed by the command:
- `[stdout truncated: N bytes omitted; full output: PATH]`: only the end is shown and the file holds the rest, \
unless it says `file unavailable`; the same for stderr.
- `[stdout dropped: N bytes from the middle, offsets A-B]`: the stream outgrew its cap and the file lacks these.
- `[output lost: ENOSPC]`: output could not be kept, here because the disk was full. The command ran on.
- `[stopped N processes left running]`: what the shell left behind and is gone now.
- `[could not be killed: NAME (pid N)]`: what is still there in spite of SIGKILL.
- `[timeout clamped to {max}ms]`: a longer limit was asked for.
- `[timed out after Nms]`: the limit passed; the output up to then is shown.
- `[out of memory]`: the kernel ended the command for want of memory.
- `[killed]` or `[killed: REASON]`: somebody else stopped the command.
- `[lost: …]`: the process that watched the command died, so how it ended is not known.
- `[killed by signal: SIGKILL]`: a signal ended the shell, and there is no exit code.
- `[exit code: N]`: the shell's exit code where it is not 0. Such a result is no failure of the tool.
- `[cancelled]`: the call was withdrawn; the output up to then is shown.",
        command = MAX_COMMAND_BYTES,
        default = limits.default.as_millis(),
        max = limits.max.as_millis(),
        grace = grace.as_secs(),
        kept = output.kept_bytes,
        output = output.words,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use brattice_protocol::session::ToolsetName;

    use super::*;

    const STANDARD: &str = include_str!("testdata/standard.json");
    const DSH: &str = include_str!("testdata/dsh.json");

    fn declared(name: ToolsetName) -> Tool {
        declarations(Toolset::of(name), &[]).remove(0)
    }

    /// The names of a schema's properties that are not declared yet; everything else must agree.
    fn not_yet_declared(name: ToolsetName, contract: &str) -> BTreeSet<String> {
        let contract: Value = serde_json::from_str(contract).unwrap();
        let tool = declared(name);
        assert_eq!(contract["name"], tool.name.as_str());
        let mut schema = tool.input_schema;
        let wanted = contract["parameters"].as_object().unwrap();
        assert_eq!(schema["type"], wanted["type"]);
        assert_eq!(schema["required"], wanted["required"]);
        let properties = schema["properties"].as_object_mut().unwrap();
        for (name, property) in &mut *properties {
            let words = property.as_object_mut().unwrap().remove("description");
            assert!(words.is_some_and(|words| words.is_string()), "{name} is described");
            assert_eq!(property, &wanted["properties"][name], "{name}");
        }
        let wanted = wanted["properties"].as_object().unwrap().keys();
        wanted.filter(|name| !properties.contains_key(*name)).cloned().collect()
    }

    #[test]
    fn schemas_are_those_of_the_contract_less_what_comes_later() {
        let later = ["justification", "run_in_background", "sandbox_permissions"];
        assert!(not_yet_declared(ToolsetName::Dsh, DSH).iter().eq(later));
        let later = ["justification", "run_in_background", "sandbox_permissions", "stdin", "tty"];
        assert!(not_yet_declared(ToolsetName::Standard, STANDARD).iter().eq(later));
    }

    #[test]
    fn a_schema_is_closed_where_unknown_arguments_are_refused() {
        let schema = declared(ToolsetName::Standard).input_schema;
        assert_eq!(schema["additionalProperties"], false);
        let schema = declared(ToolsetName::Dsh).input_schema;
        assert_eq!(schema.get("additionalProperties"), None);
    }

    #[test]
    fn descriptions_state_the_limits_that_apply() {
        let description = declared(ToolsetName::Dsh).description;
        for stated in ["(120000 unless given, 600000 at most)", "SIGKILL 3 s", "last 64000 bytes"] {
            assert!(description.contains(stated), "{stated}: {description}");
        }
        assert!(declared(ToolsetName::Standard).description.contains("SIGKILL 5 s"));
    }

    #[test]
    fn descriptions_explain_every_marker() {
        let description = declared(ToolsetName::Standard).description;
        for marker in [
            "`[stderr]`",
            "`(no output)`",
            "`[stdout truncated: N bytes omitted; full output: PATH]`",
            "`file unavailable`",
            "`[stdout dropped: N bytes from the middle, offsets A-B]`",
            "`[output lost: ENOSPC]`",
            "`[stopped N processes left running]`",
            "`[could not be killed: NAME (pid N)]`",
            "`[timeout clamped to 600000ms]`",
            "`[timed out after Nms]`",
            "`[out of memory]`",
            "`[killed]`",
            "`[killed: REASON]`",
            "`[lost: …]`",
            "`[killed by signal: SIGKILL]`",
            "`[exit code: N]`",
            "`[cancelled]`",
        ] {
            assert!(description.contains(marker), "{marker}");
        }
    }

    #[test]
    fn a_disabled_tool_is_neither_declared_nor_found() {
        let disable = ["read".to_owned(), "bash".to_owned()];
        assert_eq!(declarations(Toolset::of(ToolsetName::Standard), &disable), []);
        assert_eq!(
            find(&disable, "bash").map_err(|unknown| unknown.to_string()),
            Err("unknown tool `bash`: expected one of none".to_owned())
        );
    }

    #[test]
    fn an_unknown_tool_is_named_with_those_there_are() {
        assert_eq!(find(&[], "bash"), Ok(ToolKind::Bash));
        assert_eq!(
            find(&[], "Bash").map_err(|unknown| unknown.to_string()),
            Err("unknown tool `Bash`: expected one of `bash`".to_owned())
        );
    }

    #[test]
    fn mcp_shape_is_the_tool_itself() {
        let tool = declared(ToolsetName::Standard);
        assert_eq!(format(&tool, ToolFormat::Mcp), serde_json::to_value(&tool).unwrap());
    }

    #[test]
    fn vendors_shapes_hold_name_description_and_schema() {
        let tool = declared(ToolsetName::Dsh);
        let (name, description) = (&tool.name, &tool.description);
        let schema = &tool.input_schema;
        assert_eq!(
            format(&tool, ToolFormat::Openai),
            json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": schema}
            })
        );
        assert_eq!(
            format(&tool, ToolFormat::Anthropic),
            json!({"name": name, "description": description, "input_schema": schema})
        );
    }
}
