//! Values that configuration, command line and wire know by a few names.

/// A set of values, each with its name.
pub trait Named: Copy + Sized + 'static {
    /// Every value, in the order in which they are told.
    const NAMED: &'static [Self];

    /// The value's name.
    fn name(self) -> &'static str;

    /// The value of that name.
    fn by_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().copied().find(|value| value.name() == name)
    }
}

/// Declares an enum whose values have names: in configuration, on the wire and on the command line.
macro_rules! named {
    ($(#[$doc:meta])* $visibility:vis enum $name:ident { $($(#[$about:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$about])* #[serde(rename = $text)] $value,)+
        }

        impl $name {
            /// The name on the wire, on the command line and in configuration.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)+
                }
            }
        }

        impl $crate::named::Named for $name {
            const NAMED: &'static [Self] = &[$($name::$value),+];

            fn name(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use named;

impl Named for crate::Mode {
    const NAMED: &'static [Self] = &crate::Mode::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Named for crate::Network {
    const NAMED: &'static [Self] = &crate::Network::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Named for crate::LeftoverRule {
    const NAMED: &'static [Self] = &[crate::LeftoverRule::Adopt, crate::LeftoverRule::Stop];

    fn name(self) -> &'static str {
        match self {
            crate::LeftoverRule::Adopt => "adopt",
            crate::LeftoverRule::Stop => "stop",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::{Approval, Escalation};
    use crate::preset::Preset;
    use crate::{LeftoverRule, Mode, Network};

    fn round_trips<T: Named + PartialEq + std::fmt::Debug + serde::Serialize>() {
        for value in T::NAMED {
            assert_eq!(T::by_name(value.name()), Some(*value));
            assert_eq!(
                toml::Value::try_from(value).unwrap(),
                toml::Value::String(value.name().to_owned())
            );
        }
        assert_eq!(T::by_name("nonsense"), None);
    }

    #[test]
    fn a_value_is_found_by_its_name_which_is_also_the_wires() {
        round_trips::<Mode>();
        round_trips::<Network>();
        round_trips::<LeftoverRule>();
        round_trips::<Approval>();
        round_trips::<Escalation>();
        round_trips::<Preset>();
    }
}
