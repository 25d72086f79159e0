//! Messages of supervisors that are out there: a daemon of a later version must read them, word for word as they stand
//! here, for it takes such supervisors over. What is added to a message must have a default.

use super::*;
use serde_json::{Value, json};

fn reads<T: serde::de::DeserializeOwned + Serialize>(text: &Value) -> Value {
    let message: T = serde_json::from_value(text.clone()).unwrap();
    serde_json::to_value(&message).unwrap()
}

fn end() -> Value {
    json!({
        "cause": "exited", "exit_code": 3, "signal": null, "reason": null,
        "duration": {"secs": 1, "nanos": 5}, "user": {"secs": 0, "nanos": 0},
        "sys": {"secs": 0, "nanos": 0}, "max_rss": 4096,
        "stdout": {"bytes": 7, "dropped": [0, 0], "file": "/s/tasks/bash-1.stdout", "lost": null},
        "stderr": {"bytes": 9, "dropped": [2, 4], "file": null, "lost": {"bytes": 1, "error": "ENOSPC"}},
        "leftovers": {"count": 1, "processes": [{"pid": 7, "name": "sleep"}], "fate": "Adopted"},
        "unkillable": [],
    })
}

fn facts() -> Value {
    json!({
        "task": "bash-1", "kind": "bash", "title": "make", "stdin": "Pipe", "streams": "Separate",
        "mode": "workspace-write", "layers": {"landlock_abi": 7, "layers": []}, "started": 12,
        "timeout": {"secs": 1, "nanos": 0}, "idle_timeout": null,
    })
}

#[test]
fn what_a_supervisor_of_the_first_version_says_is_read_for_ever() {
    let said = [
        json!("Ready"),
        json!({"Adopted": {"highest": 7}}),
        json!({"Resumed": {
            "facts": facts(), "placement": "Background", "is_stopping": false, "returned": end(),
            "stdout": 7, "stderr": 9, "spools": ["Stdout", "Stderr"],
        }}),
        json!({"Prepared": {"sequence": 1, "result": {"Ok": {"landlock_abi": 7, "layers": []}}}}),
        json!({"Started": {"task": "bash-1"}}),
        json!({"StartFailed": {"task": "bash-1", "failure": {"step": "Exec", "detail": "no"}}}),
        json!({"Grew": {"task": "bash-1", "stdout": 7, "stderr": 9, "spools": []}}),
        json!({"Returned": {"task": "bash-1", "end": end(), "spools": []}}),
        json!({"Inspected": {"sequence": 2, "more": false, "tasks": [{
            "task": "bash-1", "stdout": 7, "stderr": 9, "idle": {"secs": 1, "nanos": 0},
            "cpu": {"secs": 0, "nanos": 1}, "processes": 2,
        }]}}),
        json!({"Measured": {"sequence": 3, "idle": null}}),
        json!({"Ended": {"task": "bash-1", "at": 12, "end": end(), "spools": ["Stdout"]}}),
    ];
    for message in said {
        assert_eq!(reads::<FromSupervisor>(&message), message);
    }
}

fn record() -> Value {
    json!({
        "number": 4, "first": 12, "last": 13, "count": 2,
        "denial": {
            "operation": "rename", "path": "/etc/a", "second_path": "/etc/b", "layer": "landlock",
            "errno": "EACCES", "right": "remove_file", "needs": "danger-full-access",
            "grant": "writable = [\"/etc\"]", "pid": 7, "program": "mv",
        },
    })
}

#[test]
fn what_supervisors_say_since_there_are_denials_is_read_for_ever() {
    let denials = json!({"records": [record()], "total": 3, "ambient": 1, "unobserved": 5});
    let mut end = end();
    end["denials"] = denials.clone();
    let tally = json!({"counts": [2], "total": 3, "ambient": 1, "unobserved": 5});
    let mut facts = facts();
    facts["digest"] = json!([1, 2]);
    facts["cwd"] = json!("/ws");
    let said = [
        json!({"Resumed": {
            "facts": facts, "placement": "Background", "is_stopping": false, "returned": null,
            "stdout": 7, "stderr": 9, "spools": [], "denials": denials,
        }}),
        json!({"Denied": {"task": "bash-1", "record": record()}}),
        json!({"Grew": {"task": "bash-1", "stdout": 7, "stderr": 9, "spools": [], "denied": tally}}),
        json!({"Inspected": {"sequence": 2, "more": false, "tasks": [{
            "task": "bash-1", "stdout": 7, "stderr": 9, "idle": null,
            "cpu": {"secs": 0, "nanos": 1}, "processes": 2, "denials": 3,
        }]}}),
        json!({"Ended": {"task": "bash-1", "at": 12, "end": end, "spools": []}}),
    ];
    for message in said {
        assert_eq!(reads::<FromSupervisor>(&message), message);
    }
}

#[test]
fn a_task_with_as_many_denials_as_are_listed_fits_a_message() {
    use crate::exec::channel::Packet;
    use crate::exec::denials::{DenialRecord, Denials, LISTED_BYTES};

    let record: DenialRecord = serde_json::from_value(record()).unwrap();
    let length = serde_json::to_vec(&record).unwrap().len();
    let records = vec![record; LISTED_BYTES / length];
    let denials = Denials { records, total: u64::MAX, ambient: u64::MAX, unobserved: u64::MAX };
    let resumed = json!({
        "facts": facts(), "placement": "Background", "is_stopping": false, "returned": end(),
        "stdout": 7, "stderr": 9, "spools": [],
    });
    let mut task: ResumedTask = serde_json::from_value(resumed).unwrap();
    task.facts.title = "\u{1}".repeat(1_000);
    let returned = task.returned.as_mut().unwrap();
    returned.reason = Some("\u{1}".repeat(4_096));
    returned.denials = Some(denials.clone());
    task.denials = Some(denials);
    Packet::new(&FromSupervisor::Resumed(Box::new(task)), Vec::new()).unwrap();
}

#[test]
fn what_a_supervisor_of_the_first_version_understands_is_still_said_so() {
    let asked = [
        json!({"Stop": {"task": "bash-1", "by": "by task.kill"}}),
        json!({"Stop": {"task": "bash-1", "by": "by task.kill", "urgency": "AtOnce"}}),
        json!("Close"),
        json!({"CloseInput": {"task": "bash-1"}}),
        json!({"Resize": {"task": "bash-1", "rows": 24, "cols": 80}}),
        json!({"Inspect": {"sequence": 2}}),
        json!({"Measure": {"sequence": 3, "task": "bash-1"}}),
        json!({"Notify": {"task": "bash-1", "stdout": 7, "stderr": 9}}),
        json!({"Run": {
            "task": "bash-2",
            "profile": {"mode": "read-only", "network": "full", "roots": [], "temp": "/s/tmp"},
            "kind": "argv", "title": "make", "started": 12, "cwd": "/ws", "environment": [["A", "b"]],
            "stdin": "Null", "streams": "Merged", "timeout": null, "idle_timeout": null,
            "grace": {"secs": 5, "nanos": 0}, "placement": "Foreground", "leftovers": "stop",
        }}),
        json!({"Run": {
            "task": "bash-3",
            "profile": {"mode": "read-only", "network": "full", "roots": [], "temp": "/s/tmp"},
            "kind": "bash", "shell": "Login", "title": "make", "started": 12, "cwd": "/ws",
            "environment": [], "stdin": "Null", "streams": "Separate", "timeout": null,
            "idle_timeout": null, "grace": {"secs": 5, "nanos": 0}, "placement": "Foreground",
            "leftovers": "stop",
        }}),
    ];
    for message in asked {
        assert_eq!(reads::<ToSupervisor>(&message), message);
    }
}

#[test]
fn a_later_versions_additions_are_ignored() {
    let message =
        json!({"Ended": {"task": "bash-1", "at": 12, "end": end(), "spools": [], "newer": 1}});
    let known = json!({"Ended": {"task": "bash-1", "at": 12, "end": end(), "spools": []}});
    assert_eq!(reads::<FromSupervisor>(&message), known);
}
