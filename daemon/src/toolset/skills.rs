//! Where a toolset looks for skills, and how it shows one: the values in which two of them may differ, and the roots that
//! follow from them.

use std::path::{Path, PathBuf};

pub(crate) use brattice_skills::Flat;
use brattice_skills::Root;

/// The folder of skills that any runtime reads, below a workspace or a home.
pub(super) const AGENTS: &str = ".agents/skills";

/// How a toolset finds and shows skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkillRules {
    /// Folders below the workspace, the first claim first.
    pub(crate) workspace: &'static [&'static str],
    /// Whether the user's own are found.
    pub(crate) home: HomeSkills,
    /// Whether a file of a root is a skill.
    pub(crate) flat: Flat,
    /// What names one.
    pub(crate) name: NameRule,
    /// What is shown of one.
    pub(crate) shown: SkillShown,
}

/// Whether skills below the user's home are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HomeSkills {
    /// They are.
    Found,
    /// Only what is named.
    Ignored,
}

/// What names a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Its name and nothing else.
    Exact,
    /// The last component of a path.
    LastComponent,
}

/// What is shown of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillShown {
    /// Its folder, what its header says about tools, and its instructions.
    Instructions,
    /// Its file.
    Whole,
}

impl SkillRules {
    /// Those of most toolsets.
    pub(super) const COMMON: SkillRules = SkillRules {
        workspace: &[AGENTS],
        home: HomeSkills::Found,
        flat: Flat::Skills,
        name: NameRule::Exact,
        shown: SkillShown::Instructions,
    };

    /// The roots of a session, in the order in which they claim names: its own, the configuration's, the workspace's, the
    /// user's.
    pub(crate) fn roots(
        &self,
        own: impl IntoIterator<Item = PathBuf>,
        configured: &[String],
        workspace: &Path,
        home: &str,
    ) -> Vec<Root> {
        let flat = self.flat;
        let named = own.into_iter().chain(configured.iter().map(PathBuf::from));
        let named = named.map(|path| Root { path, within: None, flat });
        // Whoever writes to a workspace may have put a link there.
        let found = self.workspace.iter().map(|folder| Root {
            path: workspace.join(folder),
            within: Some(workspace.to_owned()),
            flat,
        });
        let user = (self.home == HomeSkills::Found).then(|| Root {
            path: Path::new(home).join(AGENTS),
            within: None,
            flat,
        });
        named.chain(found).chain(user).collect()
    }

    /// The name that an argument means.
    pub(crate) fn name<'a>(&self, said: &'a str) -> &'a str {
        match self.name {
            NameRule::Exact => said,
            NameRule::LastComponent => {
                said.trim_end_matches('/').rsplit('/').next().unwrap_or(said)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::session::ToolsetName;

    use super::*;
    use crate::toolset::Toolset;

    #[test]
    fn roots_are_those_of_the_contract_in_its_order() {
        let roots = |name| -> Vec<String> {
            let rules = Toolset::of(name).skills;
            let (own, configured) = ([PathBuf::from("/own")], ["/configured".to_owned()]);
            let roots = rules.roots(own, &configured, Path::new("/ws"), "/home/a");
            roots.iter().map(|root| root.path.display().to_string()).collect()
        };
        let (agents, user) = ("/ws/.agents/skills", "/home/a/.agents/skills");
        assert_eq!(roots(ToolsetName::Standard), ["/own", "/configured", agents, user]);
        assert_eq!(
            roots(ToolsetName::Dsh),
            ["/own", "/configured", "/ws/.dsh/skills", agents, user]
        );
        assert_eq!(
            roots(ToolsetName::Glrs),
            ["/own", "/configured", "/ws/.glrs/skills", agents, user]
        );
        assert_eq!(roots(ToolsetName::Minimal), ["/own", "/configured"]);
    }

    #[test]
    fn only_minimal_takes_the_last_component_of_a_path() {
        let name = |toolset, said| Toolset::of(toolset).skills.name(said);
        assert_eq!(name(ToolsetName::Minimal, "../x/deploy"), "deploy");
        assert_eq!(name(ToolsetName::Minimal, "deploy/"), "deploy");
        assert_eq!(name(ToolsetName::Standard, "../x/deploy"), "../x/deploy");
    }
}
