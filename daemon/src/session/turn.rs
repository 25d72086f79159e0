//! One turn of a session: what it did, and whether a call is going in circles.
//!
//! ```text
//!            a call that differs                the same again             and again
//!  nothing ─────────────────────► one in a row ───────────────► two ─────► three: told ─────► four: told …
//!     ▲                               ▲                          │            │
//!     │ the turn ends                 └── a call that differs ───┴────────────┘
//! ```
//!
//! Calls are compared by a digest of tool, input and output, so that a turn holds none of them. Which calls are compared
//! is the tools' to say: one that only waits is expected to find the same again.

use std::sync::{MutexGuard, PoisonError};

use brattice_protocol::session::Counters;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::session::Session;
use crate::toolset::LoopDetector;

/// From how many equal calls in a row on they are told.
const LOOP: u64 = 3;

/// What a call did, as far as calls are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallFacts<'a> {
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// Its arguments; keys of objects are sorted.
    pub(crate) arguments: &'a Value,
    /// What it answered, less the closing lines.
    pub(crate) output: &'a str,
    /// How long the streams were of which `output` shows a part.
    pub(crate) lengths: [u64; 2],
}

type Fingerprint = [u8; 32];

/// The turn of a session.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    counters: Counters,
    last: Option<(Fingerprint, u64)>,
}

impl Turn {
    /// Counts a result of `bash`.
    pub(crate) fn count_command(&mut self) {
        self.counters.commands += 1;
    }

    /// Counts a result of `read`, `write` or `edit`.
    pub(crate) fn count_file_op(&mut self) {
        self.counters.file_ops += 1;
    }

    /// Counts a result of a tool for skills.
    pub(crate) fn count_skill(&mut self) {
        self.counters.skills += 1;
    }

    /// Compares a call with the one before. Told is how many in a row are the same, where they are too many.
    pub(crate) fn compare(&mut self, call: CallFacts<'_>) -> Option<u64> {
        let fingerprint = call.fingerprint();
        let number = match self.last {
            Some((last, number)) if last == fingerprint => number + 1,
            Some(_) | None => 1,
        };
        self.last = Some((fingerprint, number));
        Some(number).filter(|number| *number >= LOOP)
    }

    /// Ends it: its counters, and another one begins.
    pub(crate) fn end(&mut self) -> Counters {
        std::mem::take(self).counters
    }
}

impl CallFacts<'_> {
    fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for text in [self.tool, &self.arguments.to_string(), self.output] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        for length in self.lengths {
            hash.update(length.to_le_bytes());
        }
        hash.finalize().into()
    }
}

impl Session {
    /// Counts a result of `bash` for the turn.
    pub(crate) fn count_command(&self) {
        self.current_turn().count_command();
    }

    /// Counts a result of `read`, `write` or `edit` for the turn.
    pub(crate) fn count_file_op(&self) {
        self.current_turn().count_file_op();
    }

    /// Counts a result of a tool for skills for the turn.
    pub(crate) fn count_skill(&self) {
        self.current_turn().count_skill();
    }

    /// Ends the turn: its counters, which begin again. The person speaks next, so that what they rejected may be asked again.
    pub(crate) fn turn(&self) -> Counters {
        self.answers().forget_rejections();
        self.current_turn().end()
    }

    /// Compares a call with the one before in this turn: how many in a row are the same, where that is to be told.
    pub(crate) fn repeated(&self, call: CallFacts<'_>) -> Option<u64> {
        match self.tools().loops() {
            LoopDetector::On => self.current_turn().compare(call),
            LoopDetector::Off => None,
        }
    }

    fn current_turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A call of a few that there are, so that equal ones are frequent.
    fn call((tool, input, output, length): (u8, u8, u8, u64)) -> (String, Value, String, u64) {
        (format!("tool-{tool}"), json!({"input": input}), format!("output {output}"), length)
    }

    fn compare(
        turn: &mut Turn,
        (tool, arguments, output, length): &(String, Value, String, u64),
    ) -> Option<u64> {
        turn.compare(CallFacts { tool, arguments, output, lengths: [*length, 0] })
    }

    #[test]
    fn the_third_and_each_further_equal_call_is_told() {
        let mut turn = Turn::default();
        let same = call((0, 0, 0, 0));
        let told: Vec<_> = (0..5).map(|_| compare(&mut turn, &same)).collect();
        assert_eq!(told, [None, None, Some(3), Some(4), Some(5)]);
    }

    #[test]
    fn any_difference_starts_again() {
        for other in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)] {
            let (mut turn, same) = (Turn::default(), call((0, 0, 0, 0)));
            for _ in 0..2 {
                assert_eq!(compare(&mut turn, &same), None);
            }
            assert_eq!(compare(&mut turn, &call(other)), None, "{other:?}");
            let told: Vec<_> = (0..3).map(|_| compare(&mut turn, &same)).collect();
            assert_eq!(told, [None, None, Some(3)], "{other:?}");
        }
    }

    #[test]
    fn the_borders_between_tool_input_and_output_count() {
        let facts =
            |tool, output| CallFacts { tool, arguments: &Value::Null, output, lengths: [0, 0] };
        assert_ne!(facts("a", "").fingerprint(), facts("", "a").fingerprint());
    }

    #[test]
    fn a_turn_that_ends_tells_its_counters_and_forgets() {
        let (mut turn, same) = (Turn::default(), call((0, 0, 0, 0)));
        for _ in 0..3 {
            turn.count_command();
            compare(&mut turn, &same);
        }
        assert_eq!(turn.end(), Counters { commands: 3, ..Counters::default() });
        assert_eq!(turn.end(), Counters::default());
        assert_eq!(compare(&mut turn, &same), None);
    }

    proptest! {
        /// Against the plain reading of the rule: how many calls at the end of the list are equal.
        #[test]
        fn what_is_told_is_the_number_of_equal_calls_at_the_end(
            calls in prop::collection::vec((0..2_u8, 0..2_u8, 0..2_u8, 0..2_u64), 0..40),
            turns in prop::collection::vec(any::<bool>(), 40),
        ) {
            let (mut turn, mut since) = (Turn::default(), 0);
            for (index, facts) in calls.iter().enumerate() {
                if turns[index] && index % 7 == 0 {
                    turn.end();
                    since = index;
                }
                let told = compare(&mut turn, &call(*facts));
                let row = calls[since..=index].iter().rev().take_while(|other| *other == facts).count() as u64;
                prop_assert_eq!(told, Some(row).filter(|row| *row >= 3));
            }
        }
    }
}
