//! The wider mode that a call asks for. Whether it may ask at all, and who decides, is found out by whoever acts.

use brattice_policy::Mode;
use serde_json::Value;

use super::fault::{ArgumentFault, Came};
use super::given::{Given, checked};
use crate::toolset::parameter::{JUSTIFICATION, Parameter, SANDBOX_PERMISSIONS};

/// The longest justification, in bytes.
pub(in crate::toolset) const MAX_JUSTIFICATION_BYTES: usize = 4096;

/// A wider mode, asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// The mode.
    pub(crate) mode: Mode,
    /// Why, in the model's words.
    pub(crate) justification: String,
}

impl Wish {
    /// Whether it asks for more than the session has.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check_against(&self, mode: Mode) -> Result<(), ArgumentFault> {
        if self.mode > mode {
            return Ok(());
        }
        Err(ArgumentFault::NotWider { name: SANDBOX_PERMISSIONS.name, mode, came: self.mode })
    }
}

/// The wider mode that is asked for, if one is. `others` are flags that do not go with it: what a person allows is done and over
/// with its call, and nobody feeds it afterwards with what was not shown.
pub(super) fn wish(
    given: &Given<'_>,
    others: &[&Parameter],
) -> Result<Option<Wish>, ArgumentFault> {
    let mode = given.word(&SANDBOX_PERMISSIONS)?;
    let why = match given.value(&JUSTIFICATION) {
        None | Some(Value::Null) => None,
        Some(_) => given.text(&JUSTIFICATION)?,
    };
    let alone = |given: &Parameter, missing: &Parameter| ArgumentFault::Alone {
        given: given.name,
        missing: missing.name,
    };
    let (mode, why) = match (mode, why) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(alone(&SANDBOX_PERMISSIONS, &JUSTIFICATION)),
        (None, Some(_)) => return Err(alone(&JUSTIFICATION, &SANDBOX_PERMISSIONS)),
        (Some(mode), Some(why)) => (mode, why),
    };
    for other in others {
        if given.flag(other)? {
            let (first, second) = (SANDBOX_PERMISSIONS.name, other.name);
            let came = Came::Value("true".into());
            return Err(ArgumentFault::Together { first, second, came });
        }
    }
    let justification = checked(&JUSTIFICATION, why, MAX_JUSTIFICATION_BYTES)?;
    Ok(Some(Wish { mode, justification }))
}
