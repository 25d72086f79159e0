//! The tools for skills: a name, and the instructions that it stands for. The session's file worker reads them.

use std::path::PathBuf;
use std::sync::Arc;

use brattice_skills::{SkillError, SkillText};
use serde_json::{Map, Value};

use super::call::{Answer, Report};
use super::work::Work;
use crate::files::{Answer as Answered, Request};
use crate::session::{RunningCall, Session};
use crate::toolset::parse_skill;
use crate::toolset::render::{Facts, render_skill, unknown_skill};

/// Reads a skill.
pub(super) async fn read(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let said = match parse_skill(session.tools(), arguments) {
        Ok(said) => said,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    let toolset = session.toolset();
    let name = toolset.skills.name(&said).to_owned();
    report.set_title(format!("skill {name}"));
    session.count_skill();
    let request = Request::Skill { roots: session.skill_roots(), name: name.clone() };
    match work.ask(request).await {
        Ok(Answered::Skill(Ok(skill))) => {
            let SkillText { path, .. } = &*skill;
            report.begins(&[PathBuf::from(path)], None);
            let said = render_skill(session.tools(), &skill);
            Answer::told(said.text, Facts::Skill(said.facts))
        }
        Ok(Answered::Skill(Err(SkillError::Unknown { known }))) => {
            work.refused(&unknown_skill(toolset, &name, &known))
        }
        Ok(Answered::Skill(Err(SkillError::Unreadable { path, why }))) => {
            work.refused(&format!("skill {name:?}, {path}: {why}"))
        }
        Ok(_) => work.refused("the process that reads skills failed"),
        Err(answer) => answer,
    }
}
