//! The description of the tool for skills, which holds the catalogue.

use brattice_skills::{Catalogue, Skill};

use crate::toolset::skills::SkillShown;
use crate::toolset::tool::SessionTools;

/// Most characters of a description in the catalogue.
const MOST_DESCRIPTION: usize = 500;

/// Most characters of a catalogue: every request to the model carries it.
const MOST_CATALOGUE: usize = 20_000;

pub(super) fn skill(tools: SessionTools<'_>) -> String {
    let list = catalogue(tools.toolset().skills.shown, tools.skills());
    match tools.toolset().skills.shown {
        SkillShown::Instructions => format!(
            "\
Loads a skill: instructions for a kind of task. Where a task fits one of those below, load it before the work, by its \
name.

Result: the skill's folder, in which its instructions may name further files, and the instructions. `[allowed-tools: …]` and the \
like are restrictions of the skill: keep to them. A long one is cut, and a line says how much is missing and where the \
file is.

{list}"
        ),
        SkillShown::Whole => format!(
            "Reads a skill: the whole file with instructions for a kind of task. Available skills:\n{list}"
        ),
    }
}

/// A line for each skill.
fn catalogue(shown: SkillShown, Catalogue { skills, omitted, .. }: &Catalogue) -> String {
    let mut text = String::new();
    let mut left = *omitted + skills.len();
    for skill in skills {
        let line = line(shown, skill);
        if text.chars().count() + line.chars().count() > MOST_CATALOGUE {
            break;
        }
        left -= 1;
        text.push_str(&line);
    }
    if left > 0 {
        text.push_str(&format!("(and {left} more, which are not listed)\n"));
    }
    text.truncate(text.trim_end().len());
    text
}

fn line(shown: SkillShown, Skill { name, header, .. }: &Skill) -> String {
    let mut words: String = header
        .description
        .as_deref()
        .unwrap_or("(no description)")
        .chars()
        .take(MOST_DESCRIPTION)
        .collect();
    if !header.faults.is_empty() {
        words.push_str(" (its header has a fault)");
    }
    match shown {
        SkillShown::Instructions => format!("- {name}: {words}\n"),
        SkillShown::Whole => format!(" {name} — {words}\n"),
    }
}

#[cfg(test)]
mod tests {
    use brattice_skills::Header;

    use super::*;

    fn skill(name: &str, description: &str, faults: &[&str]) -> Skill {
        let description = Some(description.to_owned()).filter(|text| !text.is_empty());
        let faults = faults.iter().map(|fault| (*fault).to_owned()).collect();
        let header = Header { description, faults, ..Header::default() };
        Skill { name: name.to_owned(), path: String::new(), header }
    }

    #[test]
    fn a_catalogue_has_a_line_a_skill_and_is_bounded() {
        let skills = vec![skill("a", "First", &[]), skill("b", "", &["bad"])];
        let listed = Catalogue { skills, omitted: 3, ..Catalogue::default() };
        assert_eq!(
            catalogue(SkillShown::Instructions, &listed),
            "- a: First\n- b: (no description) (its header has a fault)\n(and 3 more, which are not listed)"
        );
        let listed = Catalogue { omitted: 0, ..listed };
        assert_eq!(
            catalogue(SkillShown::Whole, &listed),
            " a — First\n b — (no description) (its header has a fault)"
        );
        let long = "x".repeat(600);
        let many = (0..100).map(|number| skill(&format!("s{number}"), &long, &[])).collect();
        let text =
            catalogue(SkillShown::Whole, &Catalogue { skills: many, ..Catalogue::default() });
        assert!(
            text.chars().count() < MOST_CATALOGUE + 50
                && text.ends_with("more, which are not listed)")
        );
    }
}
