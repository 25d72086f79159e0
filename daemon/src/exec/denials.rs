//! What a task was denied, as plain data: each kind of refusal once, with how often. The supervisor counts (`supervisor::denied`),
//! the daemon reads.

use brattice_policy::layer::LayerReport;
use brattice_policy::{Denial, LayerName, LayerState};
use serde::{Deserialize, Serialize};

use super::spec::Timestamp;

/// Kinds of refusal that are listed of a task.
pub(crate) const MOST_LISTED: usize = 64;

/// Bytes that a task's records take at most when they are written down: a message holds two such lists beside the rest.
pub(crate) const LISTED_BYTES: usize = 32 << 10;

/// Longest text of a denial in bytes; a path can be four times as long (PATH_MAX).
const LONGEST_TEXT: usize = 1 << 10;

/// What stands in place of the rest of a text that was too long.
const CUT: &str = "…";

/// One kind of refusal, and how often it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DenialRecord {
    /// Its number in the session, never given twice.
    pub(crate) number: u64,
    /// When it first happened.
    pub(crate) first: Timestamp,
    /// When it happened last, as far as was told.
    pub(crate) last: Timestamp,
    /// How often.
    pub(crate) count: u64,
    /// What was refused the first time.
    pub(crate) denial: Denial,
}

/// All that is known of what a task was denied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Denials {
    /// The first kinds of it, in the order of their numbers. None of them is ambient.
    pub(crate) records: Vec<DenialRecord>,
    /// How many refusals there were, repeats and those that are not listed included, ambient ones not.
    pub(crate) total: u64,
    /// How many ambient ones there were: they say nothing about the command.
    pub(crate) ambient: u64,
    /// Calls that the observer could not look into.
    pub(crate) unobserved: u64,
}

/// How often, of a task that runs: what changes of [`Denials`] without a new record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Of each record, in their order.
    pub(crate) counts: Vec<u64>,
    /// As [`Denials::total`].
    pub(crate) total: u64,
    /// As [`Denials::ambient`].
    pub(crate) ambient: u64,
    /// As [`Denials::unobserved`].
    pub(crate) unobserved: u64,
}

impl Denials {
    /// Refusals that no record counts, because there was no more room for records.
    pub(crate) fn unlisted(&self) -> u64 {
        let listed = self.records.iter().map(|record| record.count).sum();
        self.total.saturating_sub(listed)
    }

    /// The number of the newest record; 0 where there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.records.last().map_or(0, |record| record.number)
    }

    /// The records after the one of this number.
    pub(crate) fn beyond(&self, number: u64) -> impl Iterator<Item = &DenialRecord> {
        self.records.iter().filter(move |record| record.number > number)
    }

    /// Adds a record that was told by itself. One that is known already changes nothing.
    pub(crate) fn learn(&mut self, record: DenialRecord) {
        if record.number > self.newest() {
            self.total = self.total.saturating_add(record.count);
            self.records.push(record);
        }
    }

    /// How often, by now.
    pub(crate) fn count(&mut self, tally: &Tally) {
        for (record, count) in self.records.iter_mut().zip(&tally.counts) {
            record.count = record.count.max(*count);
        }
        (self.total, self.ambient) = (tally.total, tally.ambient);
        self.unobserved = tally.unobserved;
    }

    /// The same for whoever knows the records.
    pub(crate) fn tally(&self) -> Tally {
        Tally {
            counts: self.records.iter().map(|record| record.count).collect(),
            total: self.total,
            ambient: self.ambient,
            unobserved: self.unobserved,
        }
    }
}

/// Whether somebody counts what commands behind these layers are denied. Where nobody does, nothing is known of it.
pub(crate) fn is_observed(layers: &LayerReport) -> bool {
    let counts = |state| matches!(state, LayerState::On | LayerState::Partial);
    layers.layers.iter().any(|layer| layer.name == LayerName::Observer && counts(layer.state))
}

/// A text as a record has it: whole, or cut.
pub(crate) fn bounded(mut text: String) -> String {
    if text.len() > LONGEST_TEXT {
        let mut end = LONGEST_TEXT - CUT.len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use brattice_policy::layer::Layer;
    use brattice_policy::{DeniedOperation, Mode};

    use super::*;

    /// A refused write.
    pub(crate) fn denial(path: &str) -> Denial {
        Denial {
            operation: DeniedOperation::Write,
            path: path.to_owned(),
            second_path: None,
            layer: LayerName::Landlock,
            errno: "EACCES".to_owned(),
            right: "write_file".to_owned(),
            needs: Mode::DangerFullAccess,
            grant: None,
            pid: 7,
            program: "sh".to_owned(),
            ambient: None,
        }
    }

    /// The same as a record of this number.
    pub(crate) fn record(number: u64, path: &str, count: u64) -> DenialRecord {
        let (first, last) = (Timestamp(number), Timestamp(number));
        DenialRecord { number, first, last, count, denial: denial(path) }
    }

    /// Records and nothing besides.
    pub(crate) fn denials(records: &[DenialRecord]) -> Denials {
        let total = records.iter().map(|record| record.count).sum();
        Denials { records: records.to_vec(), total, ..Denials::default() }
    }

    #[test]
    fn what_is_told_bit_by_bit_comes_to_the_same() {
        let mut known = Denials::default();
        known.learn(record(3, "/a", 1));
        known.learn(record(5, "/b", 1));
        known.learn(record(5, "/b", 1));
        let whole = Denials {
            records: vec![record(3, "/a", 4), record(5, "/b", 2)],
            total: 9,
            ambient: 2,
            unobserved: 1,
        };
        assert_eq!(known.total, 2);
        known.count(&whole.tally());
        assert_eq!(known, whole);
        assert_eq!((whole.unlisted(), whole.newest()), (3, 5));
        assert_eq!(whole.beyond(3).map(|record| record.number).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn only_an_observer_counts() {
        let report = |state| LayerReport {
            landlock_abi: 7,
            layers: vec![
                Layer::on(LayerName::Landlock),
                Layer::with(LayerName::Observer, state, "why"),
            ],
        };
        use LayerState::{Missing, Off, On, Partial};
        let counts = [On, Partial, Off, Missing].map(|state| is_observed(&report(state)));
        assert_eq!(counts, [true, true, false, false]);
        assert!(!is_observed(&LayerReport::default()));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(bounded("x".repeat(LONGEST_TEXT)), "x".repeat(LONGEST_TEXT));
        let cut = bounded("é".repeat(LONGEST_TEXT));
        assert_eq!(cut, "é".repeat((LONGEST_TEXT - CUT.len()) / 2) + CUT);
    }
}
