//! The options of `session.open` that only some toolsets have: which, and what they may be.

use brattice_protocol::session::Options;

use super::definition::Toolset;

/// The most characters that `max_output` may leave to a result. At four bytes each they still fit what a result carries.
const MOST_OUTPUT: u64 = 65_536;

/// An option that not all toolsets have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionOption {
    /// The value of `DSH_HOME`.
    DshHome,
    /// The time limit of a command.
    ToolTimeout,
    /// How many characters a result may have.
    MaxOutput,
}

/// All of them.
const ALL: [SessionOption; 3] =
    [SessionOption::DshHome, SessionOption::ToolTimeout, SessionOption::MaxOutput];

/// Options that every toolset has.
const COMMON: [&str; 3] = ["disable", "skills", "loop_detector"];

/// Why a session cannot be opened with an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionFault {
    /// The toolset has no such option.
    #[error("params.options.{name}: the toolset `{toolset}` has no such option, only {known}")]
    Foreign {
        /// The option.
        name: &'static str,
        /// The toolset.
        toolset: &'static str,
        /// The options that it has.
        known: String,
    },
    /// Its value is none.
    #[error("params.options.{name}: expected a whole number {range}, got {came}")]
    Range {
        /// The option.
        name: &'static str,
        /// What it may be.
        range: String,
        /// What it is.
        came: u64,
    },
}

impl SessionOption {
    const fn name(self) -> &'static str {
        match self {
            SessionOption::DshHome => "dsh_home",
            SessionOption::ToolTimeout => "tool_timeout_ms",
            SessionOption::MaxOutput => "max_output",
        }
    }

    fn is_given(self, options: &Options) -> bool {
        match self {
            SessionOption::DshHome => options.dsh_home.is_some(),
            SessionOption::ToolTimeout => options.tool_timeout_ms.is_some(),
            SessionOption::MaxOutput => options.max_output.is_some(),
        }
    }

    fn check(self, options: &Options) -> Result<(), OptionFault> {
        let (value, most) = match self {
            SessionOption::DshHome => return Ok(()),
            SessionOption::ToolTimeout => (options.tool_timeout_ms, u64::MAX),
            SessionOption::MaxOutput => (options.max_output, MOST_OUTPUT),
        };
        match value {
            Some(came) if !(1..=most).contains(&came) => {
                let range = match most {
                    u64::MAX => "from 1 on".to_owned(),
                    most => format!("from 1 to {most}"),
                };
                Err(OptionFault::Range { name: self.name(), range, came })
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Toolset {
    /// Looks whether a session of this toolset can have these options.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn check_options(&self, options: &Options) -> Result<(), OptionFault> {
        for option in ALL.into_iter().filter(|option| option.is_given(options)) {
            if !self.options.contains(&option) {
                let (name, toolset) = (option.name(), self.name.as_str());
                return Err(OptionFault::Foreign { name, toolset, known: self.option_names() });
            }
            option.check(options)?;
        }
        Ok(())
    }

    fn option_names(&self) -> String {
        let own = self.options.iter().map(|option| option.name());
        let quoted: Vec<String> =
            COMMON.into_iter().chain(own).map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::session::ToolsetName;

    use super::*;

    fn fault(name: ToolsetName, options: Options) -> Option<String> {
        Toolset::of(name).check_options(&options).err().map(|fault| fault.to_string())
    }

    #[test]
    fn an_option_of_another_toolset_is_named_with_those_there_are() {
        let limit = Options { tool_timeout_ms: Some(1), ..Options::default() };
        assert_eq!(fault(ToolsetName::Glrs, limit.clone()), None);
        let refused = |toolset: &str, known: &str| {
            Some(format!(
                "params.options.tool_timeout_ms: the toolset `{toolset}` has no such option, only {known}"
            ))
        };
        assert_eq!(
            fault(ToolsetName::Standard, limit.clone()),
            refused("standard", "`disable`, `skills`, `loop_detector`")
        );
        assert_eq!(
            fault(ToolsetName::Minimal, limit.clone()),
            refused("minimal", "`disable`, `skills`, `loop_detector`, `max_output`")
        );
        assert_eq!(
            fault(ToolsetName::Dsh, limit),
            refused("dsh", "`disable`, `skills`, `loop_detector`, `dsh_home`")
        );
        let home = Options { dsh_home: Some("/h".to_owned()), ..Options::default() };
        assert_eq!(fault(ToolsetName::Dsh, home.clone()), None);
        assert!(fault(ToolsetName::Glrs, home).is_some());
        let every = Options {
            loop_detector: Some(false),
            disable: vec!["bash".to_owned()],
            ..Options::default()
        };
        for name in
            [ToolsetName::Standard, ToolsetName::Dsh, ToolsetName::Glrs, ToolsetName::Minimal]
        {
            assert_eq!(fault(name, every.clone()), None);
        }
    }

    #[test]
    fn numbers_have_their_bounds() {
        let output = |most| {
            fault(ToolsetName::Minimal, Options { max_output: Some(most), ..Options::default() })
        };
        let refused = |came: u64| {
            Some(format!(
                "params.options.max_output: expected a whole number from 1 to 65536, got {came}"
            ))
        };
        assert_eq!([output(1), output(65_536)], [None, None]);
        assert_eq!([output(0), output(65_537)], [refused(0), refused(65_537)]);
        let limit = |ms| {
            fault(ToolsetName::Glrs, Options { tool_timeout_ms: Some(ms), ..Options::default() })
        };
        assert_eq!(limit(u64::MAX), None);
        assert_eq!(
            limit(0),
            Some(
                "params.options.tool_timeout_ms: expected a whole number from 1 on, got 0"
                    .to_owned()
            )
        );
    }
}
