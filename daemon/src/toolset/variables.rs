//! Variables that a toolset's commands get beyond the session's environment. The base environment is the policy's,
//! the managed `BRATTICE_*` names and `TMPDIR` are the session's.

use brattice_protocol::SessionId;
use brattice_protocol::session::Options;

use super::definition::Toolset;

/// A variable of a toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where its value comes from.
    pub(crate) value: VariableValue,
}

/// Where a variable's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableValue {
    /// It is always the same.
    Fixed(&'static str),
    /// The session's id.
    SessionId,
    /// The option `dsh_home`, else `.dsh` in the user's home.
    DshHome,
}

/// What of a session the variables depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionFacts<'a> {
    /// Its id.
    pub(crate) session: &'a SessionId,
    /// Its options.
    pub(crate) options: &'a Options,
    /// The home of the user whose daemon this is, an absolute path.
    pub(crate) home: &'a str,
}

impl Toolset {
    /// The variables of a session's commands that only this toolset has.
    pub(crate) fn environment(&self, facts: SessionFacts<'_>) -> Vec<(String, String)> {
        self.variables
            .iter()
            .map(|variable| (variable.name.to_owned(), variable.value.of(facts)))
            .collect()
    }
}

impl VariableValue {
    fn of(self, facts: SessionFacts<'_>) -> String {
        match self {
            VariableValue::Fixed(value) => value.to_owned(),
            VariableValue::SessionId => facts.session.as_str().to_owned(),
            VariableValue::DshHome => match &facts.options.dsh_home {
                Some(home) => home.clone(),
                None => format!("{}/.dsh", facts.home.trim_end_matches('/')),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::session::ToolsetName;

    use super::*;

    fn environment(name: ToolsetName, options: &Options, home: &str) -> Vec<String> {
        let session = SessionId::new("s-1");
        Toolset::of(name)
            .environment(SessionFacts { session: &session, options, home })
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn standard_adds_none() {
        let none: [&str; 0] = [];
        assert_eq!(environment(ToolsetName::Standard, &Options::default(), "/home/a"), none);
    }

    #[test]
    fn dsh_names_its_shell_session_and_home() {
        assert_eq!(
            environment(ToolsetName::Dsh, &Options::default(), "/home/a"),
            ["DSH_SHELL=1", "DSH_SESSION_ID=s-1", "DSH_HOME=/home/a/.dsh"]
        );
        assert_eq!(environment(ToolsetName::Dsh, &Options::default(), "/")[2], "DSH_HOME=/.dsh");
    }

    #[test]
    fn dsh_home_is_taken_from_the_option() {
        let options = Options { dsh_home: Some("/srv/dsh".to_owned()), ..Options::default() };
        assert_eq!(environment(ToolsetName::Dsh, &options, "/home/a")[2], "DSH_HOME=/srv/dsh");
    }
}
