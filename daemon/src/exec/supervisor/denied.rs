//! What the observers of the session's modes tell: counted for the task whose command was refused, in bounded space.
//!
//! ```text
//! launcher ──Denied {keeper}──► the task of that keeper ──a new kind──► daemon (Denied)
//!                            └─► unclaimed ──the keeper says Started──► its task
//! ```
//!
//! A launcher tells before the caller is answered, so whatever a command was denied stands in the launcher's channel when
//! it ends: that is read out before an end is told. The kinds are told to the daemon when it reads, and in any case with the
//! task's end, so that a flood costs neither memory nor a daemon's patience.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use brattice_policy::Denial;

use super::ending::StopCause;
use super::mode::Heard;
use super::peer::Peer;
use super::serve::Supervisor;
use super::task::Task;
use crate::exec::denials::{
    DenialRecord, Denials, LISTED_BYTES, MOST_LISTED, Tally, bounded, is_observed,
};
use crate::exec::message::FromSupervisor;
use crate::exec::spec::{Timestamp, Urgency};

/// How often a mode is heard again before an end is told. Its channel holds less (some hundreds of messages: a socket's
/// buffer has 208 KiB, and each takes half a KiB or more), so that only what was said since is left.
const DRAINS: usize = 16;

/// Keepers whose denials wait to be claimed. Each is one that starts right now.
const MOST_UNCLAIMED: usize = 16;

/// How long they wait: the keeper has said so long ago that it runs, or its task is over.
const CLAIM_PATIENCE: Duration = Duration::from_secs(10);

/// Records that the daemon is told in one turn.
const TOLD_AT_ONCE: usize = 128;

/// What an observer tells of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Observed {
    /// It was refused.
    Denied(Box<Denial>),
    /// It could not be looked into.
    Nothing,
}

/// What one task was denied.
#[derive(Debug, Default)]
pub(super) struct TaskDenials {
    denials: Denials,
    /// What the records take when they are written down.
    bytes: usize,
    /// How many of the records the daemon was told.
    told: usize,
}

impl TaskDenials {
    /// Counts one. `number` is the highest that a denial of the session has; a new kind takes the next.
    pub(super) fn add(&mut self, observed: Observed, at: Timestamp, number: &mut u64) {
        let denials = &mut self.denials;
        let denial = match observed {
            Observed::Nothing => {
                denials.unobserved = denials.unobserved.saturating_add(1);
                return;
            }
            Observed::Denied(denial) if denial.ambient.is_some() => {
                denials.ambient = denials.ambient.saturating_add(1);
                return;
            }
            Observed::Denied(denial) => short(*denial),
        };
        denials.total = denials.total.saturating_add(1);
        if let Some(known) = denials.records.iter_mut().find(|known| known.denial.repeats(&denial))
        {
            known.count = known.count.saturating_add(1);
            known.last = at;
            return;
        }
        if denials.records.len() < MOST_LISTED {
            let record =
                DenialRecord { number: *number + 1, first: at, last: at, count: 1, denial };
            self.list(record, number);
        }
    }

    /// Lists a new kind where there is room. Where there is none, none that is smaller is listed later either: the list is
    /// of the first kinds.
    fn list(&mut self, record: DenialRecord, number: &mut u64) {
        // Counts and times grow after this.
        const GROWTH: usize = 64;
        let size = serde_json::to_vec(&record).map_or(LISTED_BYTES, |text| text.len() + GROWTH);
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes <= LISTED_BYTES {
            *number = record.number;
            self.denials.records.push(record);
        }
    }

    /// Records that the daemon was not told; they count as told from now on.
    fn untold(&mut self) -> Vec<DenialRecord> {
        let untold = self.denials.records.get(self.told..).unwrap_or_default().to_vec();
        self.told = self.denials.records.len();
        untold
    }
}

/// The denial with texts of bounded length. Why it is ambient is not kept, for an ambient one is only counted.
fn short(denial: Denial) -> Denial {
    Denial {
        path: bounded(denial.path),
        second_path: denial.second_path.map(bounded),
        errno: bounded(denial.errno),
        right: bounded(denial.right),
        grant: denial.grant.map(bounded),
        program: bounded(denial.program),
        ..denial
    }
}

/// Denials below keepers that have not said yet whose they are.
#[derive(Debug, Default)]
pub(super) struct Unclaimed(VecDeque<Waiting>);

#[derive(Debug)]
struct Waiting {
    keeper: u32,
    since: Instant,
    denied: TaskDenials,
}

impl Unclaimed {
    /// Those of a keeper, to be added to. The oldest keeper's give way.
    fn of(&mut self, keeper: u32, now: Instant) -> &mut TaskDenials {
        self.0.retain(|waiting| now.saturating_duration_since(waiting.since) < CLAIM_PATIENCE);
        let known = self.0.iter().position(|waiting| waiting.keeper == keeper);
        let index = known.unwrap_or_else(|| {
            if self.0.len() >= MOST_UNCLAIMED {
                self.0.pop_front();
            }
            self.0.push_back(Waiting { keeper, since: now, denied: TaskDenials::default() });
            self.0.len() - 1
        });
        &mut self.0[index].denied
    }

    /// Those of a keeper whose task began then. What is older was denied below an earlier keeper of the same number.
    pub(super) fn claim(&mut self, keeper: u32, begun: Instant) -> Option<TaskDenials> {
        let index = self.0.iter().position(|waiting| waiting.keeper == keeper)?;
        self.0.remove(index).filter(|waiting| waiting.since >= begun).map(|found| found.denied)
    }
}

impl Task {
    /// What it was denied so far; `None` where nobody counts.
    pub(super) fn denials(&self) -> Option<Denials> {
        is_observed(&self.facts.layers).then(|| self.denied.denials.clone())
    }

    /// How often; `None` where nobody counts.
    pub(super) fn tally(&self) -> Option<Tally> {
        is_observed(&self.facts.layers).then(|| self.denied.denials.tally())
    }
}

impl Supervisor {
    /// Hears a mode's launcher and zygote, a bounded part of what they say: the rest makes them ready again.
    pub(super) fn hear_mode(&mut self, index: u32) {
        self.hear_part(index);
    }

    fn hear_part(&mut self, index: u32) -> Heard {
        let Some(mode) = self.modes.get_mut(&index) else { return Heard::All };
        let had_launcher = mode.has_launcher();
        let heard = mode.hear(&self.reactor);
        let is_lost = had_launcher && !mode.has_launcher();
        let loopback = mode.take_loopback();
        // Two launchers that were started at once have made two: the first is the session's.
        if self.setup.loopback.is_empty() {
            self.setup.loopback = loopback;
        }
        let (observed, at) = (mode.take_observed(), Timestamp::now());
        for (keeper, observed) in observed {
            let task = self.tasks.values_mut().find(|task| task.keeper_pid == Some(keeper));
            let denied = match task {
                Some(task) => &mut task.denied,
                None => self.unclaimed.of(keeper, Instant::now()),
            };
            denied.add(observed, at, &mut self.denied);
        }
        if is_lost {
            self.stop_mode(index);
        }
        heard
    }

    /// Kills what runs in a mode whose launcher is gone: each of its trapped calls fails from then on, so that nothing it
    /// does is what it was written to do, and a grace would be no help.
    fn stop_mode(&mut self, index: u32) {
        let tasks = self.tasks.iter().filter(|(_, task)| task.mode == index);
        let tasks: Vec<u32> = tasks.map(|(index, _)| *index).collect();
        for task in tasks {
            let cause = StopCause::Asked { by: "its launcher was killed".to_owned() };
            self.stop(task, cause, Urgency::AtOnce);
        }
    }

    /// Hears all that a mode's launcher and zygote have said by now.
    pub(super) fn drain_mode(&mut self, index: u32) {
        for _ in 0..DRAINS {
            if self.hear_part(index) == Heard::All {
                return;
            }
        }
    }

    /// Tells the daemon of new kinds, as long as it reads. What it is not told now it is told later, or with the end.
    pub(super) fn tell_denials(&mut self) {
        let mut room = TOLD_AT_ONCE;
        while room > 0 && self.daemon.as_ref().is_some_and(|daemon| !Peer::is_behind(daemon)) {
            let news = self.tasks.values_mut().find_map(|task| {
                let untold = task.denied.untold();
                (!untold.is_empty()).then(|| (task.id().clone(), untold))
            });
            let Some((task, untold)) = news else { return };
            room = room.saturating_sub(untold.len());
            for record in untold {
                let (task, record) = (task.clone(), Box::new(record));
                self.say(&FromSupervisor::Denied { task, record }, Vec::new());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::denials::tests::denial;

    const NOW: Timestamp = Timestamp(5);

    fn denied(path: &str) -> Observed {
        Observed::Denied(Box::new(denial(path)))
    }

    #[test]
    fn repeats_are_counted_and_kinds_are_numbered_in_the_session() {
        let (mut one, mut other, mut number) = (TaskDenials::default(), TaskDenials::default(), 7);
        one.add(denied("/a"), Timestamp(1), &mut number);
        other.add(denied("/a"), Timestamp(2), &mut number);
        one.add(denied("/a"), Timestamp(3), &mut number);
        one.add(denied("/b"), Timestamp(4), &mut number);
        let kinds = |task: &TaskDenials| {
            let records = task.denials.records.iter();
            records
                .map(|known| (known.number, known.first.0, known.last.0, known.count))
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds(&one), [(8, 1, 3, 2), (10, 4, 4, 1)]);
        assert_eq!(kinds(&other), [(9, 2, 2, 1)]);
        assert_eq!((one.denials.total, other.denials.total, number), (3, 1, 10));
    }

    #[test]
    fn what_says_nothing_is_counted_apart() {
        let (mut task, mut number) = (TaskDenials::default(), 0);
        let ambient = Denial { ambient: Some("a habit".to_owned()), ..denial("/a") };
        task.add(Observed::Denied(Box::new(ambient)), NOW, &mut number);
        task.add(Observed::Nothing, NOW, &mut number);
        let expected = Denials { ambient: 1, unobserved: 1, ..Denials::default() };
        assert_eq!((task.denials, number), (expected, 0));
    }

    #[test]
    fn a_flood_takes_bounded_space_and_every_refusal_counts() {
        let (mut task, mut number) = (TaskDenials::default(), 0);
        for file in 0..10_000 {
            task.add(denied(&format!("/out/{file}")), NOW, &mut number);
        }
        assert_eq!((task.denials.records.len(), task.denials.total), (MOST_LISTED, 10_000));
        assert_eq!((task.denials.unlisted(), number), (10_000 - 64, 64));
        let (mut task, mut number) = (TaskDenials::default(), 0);
        for file in 0..1_000 {
            // Control characters take six bytes each in a message.
            task.add(denied(&format!("/{file}{}", "\u{1}".repeat(4_000))), NOW, &mut number);
        }
        let written = serde_json::to_vec(&task.denials.records).unwrap().len();
        assert!(written <= LISTED_BYTES, "{written}");
        assert!(number > 2 && number == task.denials.records.len() as u64, "{number}");
        assert_eq!(task.denials.total, 1_000);
    }

    #[test]
    fn the_daemon_is_told_each_kind_once() {
        let (mut task, mut number) = (TaskDenials::default(), 0);
        task.add(denied("/a"), NOW, &mut number);
        task.add(denied("/a"), NOW, &mut number);
        let numbers = |records: Vec<DenialRecord>| {
            records.iter().map(|record| (record.number, record.count)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(task.untold()), [(1, 2)]);
        task.add(denied("/a"), NOW, &mut number);
        task.add(denied("/b"), NOW, &mut number);
        assert_eq!(numbers(task.untold()), [(2, 1)]);
        assert!(task.untold().is_empty());
    }

    #[test]
    fn what_was_denied_before_a_keeper_said_whose_it_is_is_its_tasks() {
        let (mut unclaimed, mut number) = (Unclaimed::default(), 0);
        let begun = Instant::now();
        unclaimed.of(5, begun).add(denied("/a"), NOW, &mut number);
        unclaimed.of(5, begun).add(denied("/a"), NOW, &mut number);
        assert!(unclaimed.claim(6, begun).is_none());
        assert_eq!(unclaimed.claim(5, begun).unwrap().denials.total, 2);
        assert!(unclaimed.claim(5, begun).is_none(), "claimed once");
    }

    #[test]
    fn what_nobody_claims_gives_way_and_is_no_later_keepers() {
        let (mut unclaimed, mut number) = (Unclaimed::default(), 0);
        let begun = Instant::now();
        for keeper in 0..2 * MOST_UNCLAIMED as u32 {
            unclaimed.of(keeper, begun).add(denied("/a"), NOW, &mut number);
        }
        assert_eq!(unclaimed.0.len(), MOST_UNCLAIMED);
        assert!(unclaimed.claim(0, begun).is_none());
        assert!(
            unclaimed.claim(20, begun + Duration::from_millis(1)).is_none(),
            "an earlier one's"
        );
        assert!(unclaimed.claim(21, begun).is_some());
        unclaimed.of(99, begun + CLAIM_PATIENCE);
        assert_eq!(unclaimed.0.len(), 1, "the others have waited too long");
    }
}
