//! The declarations of a session's tools, in MCP's shape and in those of two model vendors. What a declaration says of
//! its tool is written in `describe`.

use brattice_protocol::tools::{Annotations, Tool, ToolFormat};
use serde_json::{Map, Value, json};

use super::definition::{ToolRules, UnknownArguments};
use super::describe::description;
use super::parameter::Presence;
use super::tool::{SessionTools, ToolKind};

/// The declarations of a session's tools, in the toolset's order.
pub(crate) fn declarations(tools: SessionTools<'_>) -> Vec<Tool> {
    tools.rules().map(|rules| declaration(tools, rules)).collect()
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

fn declaration(tools: SessionTools<'_>, &ToolRules { kind, name, .. }: &ToolRules) -> Tool {
    Tool {
        name: name.to_owned(),
        title: title(kind).to_owned(),
        description: description(tools, kind),
        input_schema: schema(tools, kind),
        annotations: annotations(kind),
    }
}

const fn title(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Bash => "Run a command",
        ToolKind::Read => "Read a file",
        ToolKind::Write => "Write a file",
        ToolKind::Edit => "Edit files",
        ToolKind::Grep => "Search in files",
        ToolKind::Glob => "Find files",
        ToolKind::TaskOutput => "Read a background task",
        ToolKind::TaskKill => "End a background task",
        ToolKind::TaskList => "List background tasks",
        ToolKind::TaskInput => "Send input to a task",
        ToolKind::AskUser => "Ask the user",
        ToolKind::ExitPlanMode => "Show the plan",
        ToolKind::Skill => "Read a skill",
        ToolKind::TodoWrite => "Write the to-do list",
    }
}

/// The worst that a mode allows: the mode can change after the declaration was read. What is sent to a program can make
/// it do whatever a command can.
const fn annotations(kind: ToolKind) -> Annotations {
    let [read_only_hint, destructive_hint, idempotent_hint, open_world_hint] = match kind {
        ToolKind::Bash | ToolKind::TaskInput => [false, true, false, true],
        ToolKind::Read | ToolKind::Grep | ToolKind::Glob | ToolKind::Skill => {
            [true, false, true, false]
        }
        ToolKind::Write => [false, true, true, false],
        // The text that was replaced is not there the second time.
        ToolKind::Edit => [false, true, false, false],
        // The next read tells what is new since this one.
        ToolKind::TaskOutput => [true, false, false, false],
        ToolKind::TaskKill => [false, true, true, false],
        ToolKind::TaskList => [true, false, true, false],
        // It changes nothing but what the user knows, and each time they are asked anew.
        ToolKind::AskUser => [true, false, false, false],
        // What it ends may write.
        ToolKind::ExitPlanMode => [false, false, false, false],
        ToolKind::TodoWrite => [false, false, true, false],
    };
    Annotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint }
}

fn schema(tools: SessionTools<'_>, kind: ToolKind) -> Value {
    let parameters = tools.parameters(kind);
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.presence == Presence::Required)
        .map(|parameter| parameter.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if tools.toolset().unknown == UnknownArguments::Refuse {
        schema["additionalProperties"] = Value::Bool(false);
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use brattice_policy::Limits;
    use brattice_protocol::session::ToolsetName;
    use brattice_skills::{Catalogue, Header, Skill};

    use brattice_policy::Mode;

    use super::*;
    use crate::toolset::{EscalationOffer, Offer, Offers, Toolset};

    const STANDARD: &str = include_str!("testdata/standard.json");
    const DSH: &str = include_str!("testdata/dsh.json");
    const GLRS: &str = include_str!("testdata/glrs.json");
    const MINIMAL: &str = include_str!("testdata/minimal.json");

    fn declared(name: ToolsetName, disabled: &[&str]) -> Vec<Tool> {
        let disabled: Vec<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
        declarations(tools(name, &disabled))
    }

    /// The tools of a session whose state offers all there are.
    fn tools(name: ToolsetName, disabled: &[String]) -> SessionTools<'_> {
        let tools = SessionTools::of(Toolset::of(name), disabled, &Limits::default());
        tools.with_offers(Offers::ALL).with_skills(&SKILLS)
    }

    static SKILLS: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
        skills: vec![Skill {
            name: "deploy".to_owned(),
            path: "/s/deploy.md".to_owned(),
            header: Header { description: Some("Ships it".to_owned()), ..Header::default() },
        }],
        ..Catalogue::default()
    });

    fn tool(toolset: ToolsetName, name: &str) -> Tool {
        let tools = declared(toolset, &[]);
        tools.into_iter().find(|tool| tool.name == name).unwrap()
    }

    /// The contract's tools as far as there are any yet, by name and in the order of declaration.
    fn contract(text: &str) -> Vec<(String, Value)> {
        let tools: Vec<Value> = serde_json::from_str(text).unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(|tool| (name(tool), tool["parameters"].clone())).collect()
    }

    /// A schema less its descriptions, all of which must be there, and less what closes it.
    fn bare(mut schema: Value) -> Value {
        schema.as_object_mut().unwrap().remove("additionalProperties");
        for (name, property) in schema["properties"].as_object_mut().unwrap() {
            let words = property.as_object_mut().unwrap().remove("description");
            assert!(words.is_some_and(|words| words.is_string()), "{name} is described");
        }
        schema
    }

    fn bare_all(tools: Vec<Tool>) -> Vec<(String, Value)> {
        tools.into_iter().map(|tool| (tool.name, bare(tool.input_schema))).collect()
    }

    #[test]
    fn schemas_are_those_of_the_contract() {
        for (name, text) in [(ToolsetName::Standard, STANDARD), (ToolsetName::Dsh, DSH)] {
            let mut wanted = contract(text);
            // Files are escalated by bash, which both toolsets have.
            for (tool, schema) in &mut wanted {
                if ["write", "edit"].contains(&tool.as_str()) {
                    for later in ["sandbox_permissions", "justification"] {
                        schema["properties"].as_object_mut().unwrap().remove(later).unwrap();
                    }
                }
            }
            assert_eq!(bare_all(declared(name, &[])), wanted);
        }
    }

    #[test]
    fn where_nobody_is_asked_the_two_fields_are_gone_and_the_description_says_so() {
        for (name, text) in [(ToolsetName::Standard, STANDARD), (ToolsetName::Dsh, DSH)] {
            let mut wanted = contract(text);
            for (tool, schema) in &mut wanted {
                for gone in ["sandbox_permissions", "justification"] {
                    let was = schema["properties"].as_object_mut().unwrap().remove(gone);
                    let can_ask = ["bash", "write", "edit"].contains(&tool.as_str());
                    assert_eq!(was.is_some(), can_ask, "{tool}: {gone}");
                }
            }
            let tools = tools(name, &[]).with_escalation(EscalationOffer::Withheld);
            let declared = declarations(tools);
            let bash = declared.iter().find(|tool| tool.name == "bash").unwrap();
            let description = bash.description.clone();
            assert!(description.contains("approval prompts are disabled"), "{description}");
            assert!(!description.contains("sandbox_permissions"), "{description}");
            assert_eq!(bare_all(declared), wanted);
        }
    }

    #[test]
    fn a_ceiling_is_told_where_it_bounds() {
        let described = |ceiling| {
            let tools =
                SessionTools::of(Toolset::of(ToolsetName::Standard), &[], &Limits::default())
                    .with_escalation(EscalationOffer::Offered { ceiling });
            declarations(tools)[0].description.clone()
        };
        let told = "Nothing beyond workspace-write can be asked for";
        assert!(described(Mode::WorkspaceWrite).contains(told));
        assert!(!described(Mode::DangerFullAccess).contains("Nothing beyond"));
    }

    #[test]
    fn schemas_of_small_toolsets_are_those_of_the_contract() {
        for (name, text) in [(ToolsetName::Glrs, GLRS), (ToolsetName::Minimal, MINIMAL)] {
            let declared: Vec<_> = declared(name, &[])
                .into_iter()
                .map(|tool| (tool.name, bare(tool.input_schema)))
                .collect();
            assert_eq!(declared, contract(text));
        }
    }

    #[test]
    fn a_schema_is_closed_where_unknown_arguments_are_refused() {
        for tool in declared(ToolsetName::Standard, &[]) {
            assert_eq!(tool.input_schema["additionalProperties"], false);
        }
        for name in [ToolsetName::Dsh, ToolsetName::Glrs, ToolsetName::Minimal] {
            for tool in declared(name, &[]) {
                assert_eq!(tool.input_schema.get("additionalProperties"), None);
            }
        }
    }

    #[test]
    fn a_disabled_tool_is_not_declared() {
        let names = |name, disabled: &[&str]| -> Vec<String> {
            declared(name, disabled).into_iter().map(|tool| tool.name).collect()
        };
        assert_eq!(
            names(ToolsetName::Standard, &["read", "bash"]),
            [
                "write",
                "edit",
                "grep",
                "glob",
                "task_output",
                "task_kill",
                "task_list",
                "task_input",
                "skill",
                "ask_user_question",
                "exit_plan_mode",
                "todo_write"
            ]
        );
        assert_eq!(
            names(ToolsetName::Dsh, &["task_list", "ask_user_question", "todo_write"]),
            [
                "bash",
                "edit",
                "exit_plan_mode",
                "read",
                "skill",
                "task_kill",
                "task_output",
                "write"
            ]
        );
    }

    #[test]
    fn what_takes_a_state_is_declared_in_it_only() {
        let declared = |name, plan, questions| -> Vec<&str> {
            let all = ["ask_user", "ask_user_question", "exit_plan_mode"];
            let tools = tools(name, &[]).with_offers(Offers { plan, questions });
            let declared = declarations(tools);
            all.into_iter().filter(|name| declared.iter().any(|tool| tool.name == *name)).collect()
        };
        let (offered, withheld) = (Offer::Offered, Offer::Withheld);
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            assert_eq!(declared(name, offered, withheld), ["exit_plan_mode"]);
            assert_eq!(declared(name, withheld, offered), ["ask_user_question"]);
            assert_eq!(declared(name, withheld, withheld), [""; 0]);
        }
        assert_eq!(declared(ToolsetName::Glrs, offered, offered), ["ask_user"]);
        assert_eq!(declared(ToolsetName::Minimal, offered, offered), [""; 0]);
    }

    #[test]
    fn the_tool_for_skills_is_declared_where_there_are_some_and_lists_them() {
        let tools = [
            (ToolsetName::Standard, "skill", "\n- deploy: Ships it"),
            (ToolsetName::Dsh, "skill", "\n- deploy: Ships it"),
            (ToolsetName::Glrs, "activate_skill", "\n- deploy: Ships it"),
            (ToolsetName::Minimal, "read_skill", "\n deploy — Ships it"),
        ];
        for (toolset, name, line) in tools {
            assert!(tool(toolset, name).description.contains(line), "{name}");
            let none = SessionTools::of(Toolset::of(toolset), &[], &Limits::default());
            assert!(declarations(none).iter().all(|tool| tool.name != name), "{name}");
        }
    }

    #[test]
    fn nothing_speaks_of_the_background_where_a_tool_for_it_is_missing() {
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let offers = |disabled: &[&str]| {
                let bash = declared(name, disabled).into_iter().find(|tool| tool.name == "bash");
                let bash = serde_json::to_string(&bash.unwrap()).unwrap();
                let spoken = ["run_in_background", "background task", "now task"];
                spoken.map(|words| bash.contains(words))
            };
            assert_eq!(offers(&[]), [true; 3]);
            for missing in ["task_output", "task_kill", "task_list"] {
                assert_eq!(offers(&[missing]), [false; 3], "{missing}");
            }
        }
    }

    #[test]
    fn hints_tell_the_risk() {
        let hints: BTreeMap<String, [bool; 4]> = declared(ToolsetName::Standard, &[])
            .into_iter()
            .map(|Tool { name, annotations, .. }| {
                let Annotations { read_only_hint, destructive_hint, .. } = annotations;
                let Annotations { idempotent_hint, open_world_hint, .. } = annotations;
                (name, [read_only_hint, destructive_hint, idempotent_hint, open_world_hint])
            })
            .collect();
        let expected = [
            ("ask_user_question", [true, false, false, false]),
            ("bash", [false, true, false, true]),
            ("edit", [false, true, false, false]),
            ("exit_plan_mode", [false; 4]),
            ("glob", [true, false, true, false]),
            ("grep", [true, false, true, false]),
            ("read", [true, false, true, false]),
            ("skill", [true, false, true, false]),
            ("task_input", [false, true, false, true]),
            ("task_kill", [false, true, true, false]),
            ("task_list", [true, false, true, false]),
            ("task_output", [true, false, false, false]),
            ("todo_write", [false, false, true, false]),
            ("write", [false, true, true, false]),
        ];
        assert_eq!(hints, expected.map(|(name, hints)| (name.to_owned(), hints)).into());
    }

    #[test]
    fn mcp_shape_is_the_tool_itself() {
        for tool in declared(ToolsetName::Standard, &[]) {
            assert_eq!(format(&tool, ToolFormat::Mcp), serde_json::to_value(&tool).unwrap());
        }
    }

    #[test]
    fn vendors_shapes_hold_name_description_and_schema() {
        let tool = tool(ToolsetName::Dsh, "task_kill");
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
