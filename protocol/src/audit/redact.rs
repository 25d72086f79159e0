//! A call's arguments as the log has them: as they were sent, but what was written or typed only by length and digest.

use serde_json::{Map, Value, json};

use super::Digest;

/// The arguments, at any depth less the values of `content`, `text`, `data` and of every key that begins with `old` or
/// `new`. In place of such a value stands `{"bytes", "sha256"}`: of the text where it is one, else of its JSON.
pub fn redact(arguments: &Value) -> Value {
    match arguments {
        Value::Object(object) => {
            let entry = |(key, value): (&String, &Value)| {
                let value = if holds_content(key) { summary(value) } else { redact(value) };
                (key.clone(), value)
            };
            Value::Object(object.iter().map(entry).collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.iter().map(redact).collect()),
        other => other.clone(),
    }
}

fn holds_content(key: &str) -> bool {
    matches!(key, "content" | "text" | "data") || key.starts_with("old") || key.starts_with("new")
}

fn summary(value: &Value) -> Value {
    let of = |bytes: &[u8]| json!({"bytes": bytes.len(), "sha256": Digest::of(bytes)});
    match value {
        Value::String(text) => of(text.as_bytes()),
        other => of(other.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_or_typed_is_told_by_length_and_digest_at_any_depth() {
        let told = |text: &str| json!({"bytes": text.len(), "sha256": Digest::of(text.as_bytes())});
        let sent = json!({
            "file_path": "/ws/a", "content": "secret", "replace_all": true,
            "edits": [{"old": "é", "new": "", "newText": "n", "old_string": "o", "at": {"text": "t"}}],
            "data": [1, {"text": "x"}],
            "context": 3, "renewed": "stays",
        });
        let expected = json!({
            "file_path": "/ws/a", "content": told("secret"), "replace_all": true,
            "edits": [{
                "old": told("é"), "new": told(""), "newText": told("n"), "old_string": told("o"),
                "at": {"text": told("t")},
            }],
            "data": told("[1,{\"text\":\"x\"}]"),
            "context": 3, "renewed": "stays",
        });
        assert_eq!(redact(&sent), expected);
        for whole in [json!(null), json!("content"), json!([1, "text"]), json!({"command": "ls"})] {
            assert_eq!(redact(&whole), whole);
        }
    }
}
