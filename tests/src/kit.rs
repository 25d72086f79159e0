//! The tools for files of each toolset, by its own names, so that a case can be played in all of them.

use serde_json::{Value, json};

use crate::reply::Reply;
use crate::session::Session;
use crate::world::World;

/// What the texts of failed calls begin with in a toolset.
pub fn error_prefix(toolset: &str) -> &'static str {
    match toolset {
        "dsh" => "Error: ",
        "glrs" => "ERROR: ",
        _ => "",
    }
}

/// A session of one toolset.
pub struct Kit {
    /// The toolset.
    pub toolset: &'static str,
    session: Session,
}

/// A session of each but `standard`, whose tools have tests of their own.
///
/// # Panics
/// When one cannot be opened.
pub fn kits(world: &World) -> [Kit; 3] {
    ["dsh", "glrs", "minimal"].map(|toolset| kit(world, toolset))
}

/// A session of one.
///
/// # Panics
/// When it cannot be opened.
pub fn kit(world: &World, toolset: &'static str) -> Kit {
    Kit::new(toolset, world.session("workspace-write").of_toolset(toolset).open())
}

impl Kit {
    /// That of a session, which is of this toolset.
    pub fn new(toolset: &'static str, session: Session) -> Kit {
        Kit { toolset, session }
    }

    /// What a flagged text begins with.
    pub fn prefix(&self) -> &'static str {
        error_prefix(self.toolset)
    }

    /// The name of `read`, `write` or `edit`.
    pub fn name(&self, tool: &str) -> String {
        if self.toolset == "minimal" { format!("{tool}_file") } else { tool.to_owned() }
    }

    /// The argument that is a file's path.
    fn path(&self) -> &'static str {
        match self.toolset {
            "standard" | "dsh" => "file_path",
            _ => "path",
        }
    }

    /// Calls a tool by its name in the toolset.
    #[track_caller]
    fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.session.call(&self.name(tool), arguments)
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, path: &str) -> Reply {
        self.call("read", json!({self.path(): path}))
    }

    /// Reads from a line on, where the tool can.
    pub fn read_from(&self, path: &str, line: u64) -> Option<Reply> {
        let arguments = match self.toolset {
            "standard" | "dsh" => json!({"file_path": path, "offset": line}),
            "minimal" => json!({"path": path, "start": line}),
            _ => return None,
        };
        Some(self.call("read", arguments))
    }

    /// Lines as the tool shows them from this number on.
    pub fn lines(&self, first: u64, lines: &[&str]) -> String {
        let shown = lines.iter().zip(first..).map(|(line, number)| match self.toolset {
            "dsh" => format!("{number}: {line}"),
            "standard" | "glrs" => format!("{number}|{line}"),
            _ => (*line).to_owned(),
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Writes a file.
    #[track_caller]
    pub fn write(&self, path: &str, content: &str) -> Reply {
        self.call("write", json!({self.path(): path, "content": content}))
    }

    /// Replaces what occurs once.
    #[track_caller]
    pub fn edit(&self, path: &str, old: &str, new: &str) -> Reply {
        self.edits(path, &[(old, new)], false)
    }

    /// Every place, where the tool can.
    pub fn edit_all(&self, path: &str, old: &str, new: &str) -> Option<Reply> {
        (self.toolset != "minimal").then(|| self.edits(path, &[(old, new)], true))
    }

    /// Several edits of a file; in `dsh` a call each.
    ///
    /// # Panics
    /// When there are none.
    #[track_caller]
    pub fn edits(&self, path: &str, edits: &[(&str, &str)], all: bool) -> Reply {
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
                let first = replies.next().expect("there is an edit");
                replies.fold(first, |before, reply| if before.is_error() { before } else { reply })
            }
            "standard" | "glrs" => {
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
    pub fn dry_run(&self, path: &str, old: &str, new: &str) -> Option<Reply> {
        let arguments = match self.toolset {
            "standard" => {
                let edits = json!([{"old_string": old, "new_string": new}]);
                json!({"files": [{"path": path, "edits": edits}], "dry_run": true})
            }
            "minimal" => {
                let edits = json!([{"old": old, "new": new}]);
                json!({"path": path, "edits": edits, "dry_run": true})
            }
            _ => return None,
        };
        Some(self.call("edit", arguments))
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Asserts that a call failed as one, with this text as the toolset has it.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn fails(&self, reply: &Reply, text: &str) {
        let text = format!("{}{text}", self.prefix());
        assert_eq!((reply.text(), reply.is_error()), (text, true));
    }

    /// What the text that is replaced is called.
    pub fn old(&self) -> &'static str {
        if self.toolset == "minimal" { "old" } else { "old_string" }
    }
}
