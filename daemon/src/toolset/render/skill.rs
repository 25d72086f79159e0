//! A skill in words: its folder, its restrictions, its instructions; a cut is said with the file that holds the rest.

use brattice_protocol::skill::{Restriction, SkillRead};
use brattice_skills::SkillText;

use super::characters::StreamLength;
use super::cut::cut;
use super::lines::push_line;
use super::task_words::Said;
use crate::toolset::definition::Toolset;
use crate::toolset::skills::{NameRule, SkillShown};
use crate::toolset::tool::SessionTools;
use crate::toolset::wording::ResultCap;

/// Bytes of a skill where a toolset has no cap: what a result may carry, less what is said beside it.
const MOST_BYTES: usize = 200 << 10;

/// The result of reading a skill.
pub(crate) fn render_skill(tools: SessionTools<'_>, skill: &SkillText) -> Said<SkillRead> {
    let rules = &tools.toolset().skills;
    let (mut text, instructions) = match rules.shown {
        SkillShown::Whole => (String::new(), skill.text.as_str()),
        SkillShown::Instructions => {
            (head(skill), skill.instructions().trim_start_matches(['\r', '\n']))
        }
    };
    text.push_str(instructions);
    let whole = text.len();
    let path = &skill.path;
    match tools.cap() {
        ResultCap::None => {
            if text.len() > MOST_BYTES {
                let end = (0..=MOST_BYTES).rfind(|end| text.is_char_boundary(*end)).unwrap_or(0);
                text.truncate(end);
                let omitted = whole - end;
                let line = format!("[skill truncated: {omitted} bytes omitted; full text: {path}]");
                push_line(&mut text, &line);
            }
        }
        cap @ ResultCap::Characters(..) => {
            if let Some(line) = cut(cap, &mut text, StreamLength::AsRead) {
                push_line(&mut text, &line);
                push_line(&mut text, &format!("[full text: {path}]"));
            }
        }
    }
    let restrictions = skill.header.restrictions.iter();
    let restrictions = restrictions
        .map(|(key, value)| Restriction { key: key.clone(), value: value.clone() })
        .collect();
    let facts = SkillRead {
        name: skill.name.clone(),
        path: skill.path.clone(),
        folder: skill.folder.clone(),
        bytes: skill.text.len() as u64,
        restrictions,
        faults: skill.header.faults.clone(),
    };
    Said { text, facts }
}

/// What stands before the instructions.
fn head(SkillText { folder, header, .. }: &SkillText) -> String {
    let mut text = format!("Skill folder: {folder}\n");
    for (key, value) in &header.restrictions {
        text.push_str(&format!("[{key}: {value}]\n"));
    }
    for fault in &header.faults {
        text.push_str(&format!("[note: {fault}]\n"));
    }
    text.push('\n');
    text
}

/// That there is no such skill, and which there are.
pub(crate) fn unknown_skill(toolset: &Toolset, name: &str, known: &[String]) -> String {
    let name: String = name.chars().take(60).collect();
    match toolset.skills.name {
        NameRule::Exact if known.is_empty() => format!("unknown skill {name:?}: there are none"),
        NameRule::Exact => format!("unknown skill {name:?}: expected one of {}", known.join(", ")),
        NameRule::LastComponent => {
            format!("No skill named {name:?}. Available skills: {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use brattice_policy::Limits;
    use brattice_protocol::session::ToolsetName;
    use brattice_skills::Header;

    use super::*;

    fn said(name: ToolsetName, skill: &SkillText) -> String {
        let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
        render_skill(tools, skill).text
    }

    fn skill(text: &str, body: usize) -> SkillText {
        let restrictions = vec![("allowed-tools".to_owned(), "read".to_owned())];
        SkillText {
            name: "s".to_owned(),
            path: "/r/s.md".to_owned(),
            folder: "/r".to_owned(),
            text: text.to_owned(),
            body,
            header: Header { restrictions, faults: vec!["bad".to_owned()], ..Header::default() },
        }
    }

    #[test]
    fn restrictions_and_faults_stand_before_the_instructions() {
        let skill = skill("---\nx\n---\n\nDo it\n", 10);
        let expected = "Skill folder: /r\n[allowed-tools: read]\n[note: bad]\n\nDo it\n";
        for name in [ToolsetName::Standard, ToolsetName::Dsh, ToolsetName::Glrs] {
            assert_eq!(said(name, &skill), expected);
        }
        assert_eq!(said(ToolsetName::Minimal, &skill), "---\nx\n---\n\nDo it\n");
    }

    #[test]
    fn b115_a_cut_says_how_much_is_missing_and_where_the_file_is() {
        let long = skill(&"é".repeat(150_000), 0);
        let standard = said(ToolsetName::Standard, &long);
        let line = standard.lines().last().unwrap();
        assert!(
            line.starts_with("[skill truncated: ") && line.ends_with("full text: /r/s.md]"),
            "{line}"
        );
        let minimal = said(ToolsetName::Minimal, &long);
        let expected = "\n[output truncated: 142000 characters omitted]\n[full text: /r/s.md]";
        assert!(minimal.ends_with(expected), "{minimal:?}");
        let glrs = said(ToolsetName::Glrs, &long);
        assert!(glrs.contains("\n[truncated, 1200") && glrs.ends_with("\n[full text: /r/s.md]"));
    }

    #[test]
    fn an_unknown_name_is_told_with_those_there_are() {
        let told = |name, known: &[&str]| {
            let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
            unknown_skill(Toolset::of(name), "x", &known)
        };
        assert_eq!(
            told(ToolsetName::Dsh, &["a", "b"]),
            "unknown skill \"x\": expected one of a, b"
        );
        assert_eq!(told(ToolsetName::Glrs, &[]), "unknown skill \"x\": there are none");
        assert_eq!(
            told(ToolsetName::Minimal, &["a", "b", "c"]),
            "No skill named \"x\". Available skills: a, b, c"
        );
    }
}
