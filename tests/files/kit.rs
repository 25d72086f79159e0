//! The tools of the toolsets other than `standard`, each by its own names, so that a case can be played in all of them.

use brattice_tests::{Reply, Session, World};
use serde_json::{Value, json};

use crate::{call, opening};

/// A session of one toolset.
pub(crate) struct Kit {
    /// The toolset.
    pub(crate) toolset: &'static str,
    session: Session,
}

/// A session of each.
pub(crate) fn kits(world: &World) -> [Kit; 3] {
    ["dsh", "glrs", "minimal"].map(|toolset| kit(world, toolset))
}

/// A session of one.
pub(crate) fn kit(world: &World, toolset: &'static str) -> Kit {
    let opening = opening(world).with("toolset", json!(toolset));
    let options = json!({"edit_tools": true, "ask": "never"});
    let opening = if toolset == "minimal" { opening.with("options", options) } else { opening };
    Kit { toolset, session: opening.open() }
}

impl Kit {
    /// What a flagged text begins with.
    pub(crate) fn prefix(&self) -> &'static str {
        match self.toolset {
            "dsh" => "Error: ",
            "glrs" => "ERROR: ",
            _ => "",
        }
    }

    fn call(&self, tool: &str, arguments: Value) -> Reply {
        let tool = if self.toolset == "minimal" { format!("{tool}_file") } else { tool.to_owned() };
        call(&self.session, &tool, arguments)
    }

    fn path(&self) -> &'static str {
        if self.toolset == "dsh" { "file_path" } else { "path" }
    }

    pub(crate) fn read(&self, path: &str) -> Reply {
        self.call("read", json!({self.path(): path}))
    }

    /// Reads from a line on, where the tool can.
    pub(crate) fn read_from(&self, path: &str, line: u64) -> Option<Reply> {
        let arguments = match self.toolset {
            "dsh" => json!({"file_path": path, "offset": line}),
            "minimal" => json!({"path": path, "start": line}),
            _ => return None,
        };
        Some(self.call("read", arguments))
    }

    /// Lines as the tool shows them from this number on.
    pub(crate) fn lines(&self, first: u64, lines: &[&str]) -> String {
        let shown = lines.iter().zip(first..).map(|(line, number)| match self.toolset {
            "dsh" => format!("{number}: {line}"),
            "glrs" => format!("{number}|{line}"),
            _ => (*line).to_owned(),
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> Reply {
        self.call("write", json!({self.path(): path, "content": content}))
    }

    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) -> Reply {
        self.edits(path, &[(old, new)], false)
    }

    /// Every place, where the tool can.
    pub(crate) fn edit_all(&self, path: &str, old: &str, new: &str) -> Option<Reply> {
        (self.toolset != "minimal").then(|| self.edits(path, &[(old, new)], true))
    }

    /// Several edits of a file; in `dsh` a call each.
    pub(crate) fn edits(&self, path: &str, edits: &[(&str, &str)], all: bool) -> Reply {
        let each = |edit: &dyn Fn(&str, &str) -> Value| -> Vec<Value> {
            edits.iter().map(|(old, new)| edit(old, new)).collect()
        };
        match self.toolset {
            "dsh" => {
                let mut replies = edits.iter().map(|(old, new)| {
                    let arguments = json!({
                        "file_path": path, "old_string": old, "new_string": new, "replace_all": all,
                    });
                    self.call("edit", arguments)
                });
                let first = replies.next().unwrap();
                replies.fold(first, |before, reply| if before.is_error() { before } else { reply })
            }
            "glrs" => {
                let edits = each(
                    &|old, new| json!({"old_string": old, "new_string": new, "replace_all": all}),
                );
                self.call("edit", json!({"files": [{"path": path, "edits": edits}]}))
            }
            _ => {
                let edits = each(&|old, new| json!({"old": old, "new": new}));
                self.call("edit", json!({"path": path, "edits": edits}))
            }
        }
    }

    /// What a call is that edits this without doing it, where the tool can.
    pub(crate) fn dry_run(&self, path: &str, old: &str, new: &str) -> Option<Reply> {
        let edits = json!([{"old": old, "new": new}]);
        let arguments = json!({"path": path, "edits": edits, "dry_run": true});
        (self.toolset == "minimal").then(|| self.call("edit", arguments))
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Asserts that a call failed as one, with this text as the toolset has it.
    #[track_caller]
    pub(crate) fn fails(&self, reply: &Reply, text: &str) {
        crate::fails(reply, &format!("{}{text}", self.prefix()));
    }

    /// What the text that is replaced is called.
    pub(crate) fn old(&self) -> &'static str {
        if self.toolset == "minimal" { "old" } else { "old_string" }
    }
}
