//! The arguments of one call: whether they are declared and there, and one by one as the type that they must have.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::fault::{ArgumentFault, Came, Expected, shorten};
use crate::toolset::definition::UnknownArguments;
use crate::toolset::parameter::{
    JUSTIFICATION, Parameter, ParameterKind, Presence, RUN_IN_BACKGROUND, SANDBOX_PERMISSIONS,
};
use crate::toolset::tool::{Background, EscalationOffer, SessionTools, ToolKind};

/// A call's arguments, as far as they are declared.
pub(super) struct Given<'a> {
    arguments: &'a Map<String, Value>,
    parameters: Vec<&'static Parameter>,
}

impl<'a> Given<'a> {
    /// Looks at the names. The first fault is told; undeclared arguments come first, because a misspelt name explains
    /// best why another argument is missing.
    pub(super) fn check(
        tools: SessionTools<'_>,
        kind: ToolKind,
        arguments: &'a Map<String, Value>,
    ) -> Result<Self, ArgumentFault> {
        check_available(tools, kind, arguments)?;
        check_escalation(tools, kind, arguments)?;
        let given = Given { arguments, parameters: tools.parameters(kind) };
        given.check_declared(tools.toolset().unknown)?;
        for parameter in &given.parameters {
            if parameter.presence == Presence::Required && !arguments.contains_key(parameter.name) {
                return Err(unexpected(parameter, Expected::of(parameter.kind), Came::Nothing));
            }
        }
        Ok(given)
    }

    fn check_declared(&self, unknown: UnknownArguments) -> Result<(), ArgumentFault> {
        let is_declared = |name: &str| self.parameters.iter().any(|known| known.name == name);
        match (unknown, self.arguments.iter().find(|(name, _)| !is_declared(name))) {
            (UnknownArguments::Refuse, Some((name, value))) => Err(ArgumentFault::Unknown {
                name: shorten(name),
                known: names(&self.parameters),
                came: Came::value(value),
            }),
            (UnknownArguments::Refuse, None) | (UnknownArguments::Ignore, _) => Ok(()),
        }
    }

    /// Whether there is such a parameter.
    pub(super) fn declares(&self, parameter: &Parameter) -> bool {
        self.parameters.iter().any(|known| known.name == parameter.name)
    }

    /// The type of the parameter of that name, as this toolset has it.
    pub(super) fn kind(&self, parameter: &Parameter) -> Option<ParameterKind> {
        let known = self.parameters.iter().find(|known| known.name == parameter.name);
        known.map(|known| known.kind)
    }

    /// The value, where the parameter is declared and the argument there.
    pub(super) fn value(&self, parameter: &Parameter) -> Option<&'a Value> {
        let is_declared = self.parameters.iter().any(|known| known.name == parameter.name);
        self.arguments.get(parameter.name).filter(|_| is_declared)
    }

    /// Text of any kind.
    pub(super) fn text(&self, parameter: &Parameter) -> Result<Option<&'a str>, ArgumentFault> {
        match self.value(parameter) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(unexpected(parameter, Expected::Text, Came::value(other))),
        }
    }

    /// Text of any kind, which the call must have.
    pub(super) fn required_text(&self, parameter: &Parameter) -> Result<&'a str, ArgumentFault> {
        self.text(parameter)?.ok_or_else(|| unexpected(parameter, Expected::Text, Came::Nothing))
    }

    /// One of the words that the parameter takes, read as what it stands for. Null asks for nothing.
    pub(super) fn word<T: FromStr>(
        &self,
        parameter: &Parameter,
    ) -> Result<Option<T>, ArgumentFault> {
        let Some(value) = self.value(parameter).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let expected = Expected::of(parameter.kind);
        let Expected::Word(words) = expected else { return Ok(None) };
        let word = value.as_str().filter(|word| words.contains(word));
        let read = word.and_then(|word| word.parse().ok());
        read.map(Some).ok_or_else(|| unexpected(parameter, expected, Came::value(value)))
    }

    /// Whether something is asked for.
    pub(super) fn flag(&self, parameter: &Parameter) -> Result<bool, ArgumentFault> {
        match self.value(parameter) {
            None => Ok(false),
            Some(Value::Bool(asked)) => Ok(*asked),
            Some(other) => Err(unexpected(parameter, Expected::Flag, Came::value(other))),
        }
    }

    /// A whole number within bounds, if there is one.
    pub(super) fn within(
        &self,
        parameter: &Parameter,
        least: u64,
        most: u64,
    ) -> Result<Option<u64>, ArgumentFault> {
        let expected = Expected::WholeNumberWithin(least, most);
        let came = || self.value(parameter).map_or(Came::Nothing, Came::value);
        let number = self.whole_number(parameter, 0);
        match number.map_err(|_| unexpected(parameter, expected, came()))? {
            Some(number) if !(least..=most).contains(&number) => {
                Err(unexpected(parameter, expected, came()))
            }
            number => Ok(number),
        }
    }

    /// A time in milliseconds, above 0.
    pub(super) fn milliseconds(&self, parameter: &Parameter) -> Result<Option<f64>, ArgumentFault> {
        let Some(value) = self.value(parameter) else {
            return Ok(None);
        };
        // JSON has no NaN; a number too large for f64 was refused when the message was read.
        let asked = value.as_f64().filter(|milliseconds| *milliseconds > 0.0);
        asked
            .map(Some)
            .ok_or_else(|| unexpected(parameter, Expected::Milliseconds, Came::value(value)))
    }

    /// A whole number that is at least `least`; one that no integer can hold counts as the largest there is.
    pub(super) fn whole_number(
        &self,
        parameter: &Parameter,
        least: u64,
    ) -> Result<Option<u64>, ArgumentFault> {
        let Some(value) = self.value(parameter) else {
            return Ok(None);
        };
        // JSON Schema takes 3.0 for an integer.
        let as_float = || value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
        let number = value.as_u64().or_else(|| as_float().map(|number| number as u64));
        number
            .filter(|number| *number >= least)
            .map(Some)
            .ok_or_else(|| unexpected(parameter, Expected::WholeNumber(least), Came::value(value)))
    }
}

/// The background asked for in a session that cannot have it.
fn check_available(
    tools: SessionTools<'_>,
    kind: ToolKind,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentFault> {
    let name = RUN_IN_BACKGROUND.name;
    match (kind, tools.background(), arguments.get(name)) {
        (_, _, None | Some(Value::Null | Value::Bool(false))) => Ok(()),
        (ToolKind::Bash, Background::Withheld, Some(value)) => {
            Err(ArgumentFault::Withheld { name, came: Came::value(value) })
        }
        (_, _, Some(_)) => Ok(()),
    }
}

/// A wider mode asked for in a session in which nobody is asked. Null asks for nothing.
fn check_escalation(
    tools: SessionTools<'_>,
    kind: ToolKind,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentFault> {
    if kind != ToolKind::Bash || tools.escalation() != EscalationOffer::Withheld {
        return Ok(());
    }
    for name in [SANDBOX_PERMISSIONS.name, JUSTIFICATION.name] {
        if let Some(value) = arguments.get(name).filter(|value| !value.is_null()) {
            return Err(ArgumentFault::NobodyIsAsked { name, came: Came::value(value) });
        }
    }
    Ok(())
}

/// Text that goes to the kernel: some of it, no NUL in it, and no more than it takes.
pub(super) fn checked(
    parameter: &Parameter,
    text: &str,
    limit: usize,
) -> Result<String, ArgumentFault> {
    let text = bounded(parameter, text, limit)?;
    if let Some(byte) = text.find('\0') {
        return Err(unexpected(parameter, Expected::TextWithoutNul, Came::NulAt(byte)));
    }
    if text.trim().is_empty() {
        let came = Came::value(&Value::from(text));
        return Err(unexpected(parameter, Expected::NonBlankText, came));
    }
    Ok(text.to_owned())
}

/// Text of at most so many bytes.
pub(super) fn bounded<'a>(
    parameter: &Parameter,
    text: &'a str,
    limit: usize,
) -> Result<&'a str, ArgumentFault> {
    if text.len() > limit {
        let expected = Expected::TextOfAtMost(limit);
        return Err(unexpected(parameter, expected, Came::Bytes(text.len())));
    }
    Ok(text)
}

pub(super) fn unexpected(parameter: &Parameter, expected: Expected, came: Came) -> ArgumentFault {
    ArgumentFault::Unexpected { name: parameter.name, expected, came }
}

fn names(parameters: &[&Parameter]) -> String {
    if parameters.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> =
        parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    format!("only {}", quoted.join(", "))
}
