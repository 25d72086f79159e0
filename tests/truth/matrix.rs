//! The matrix itself: each call is made natively and in both confined modes, in folders of its own, and what differs is
//! held against what is on record.

use std::collections::BTreeMap;
use std::path::Path;

use brattice_tests::{CONFINED, Session, World};

use crate::cases::{self, Case};

const PROGRAM: &str = include_str!("program.py");

/// Calls that one command makes: no more than are listed in a result.
const AT_ONCE: usize = 60;

/// What the kernel answers natively where Landlock is asked before it: the sandbox's errno stands in its place, and
/// nothing is on record, for the call would have failed anyway.
///
/// The kernel looks for these only after Landlock: what the file is of unlink and rename, whether a folder is empty,
/// whether anybody reads a FIFO, whether the folder may be written to.
const LOSES: &[(&str, &[i32])] = &[
    ("open", &[libc_errno::ENXIO]),
    ("creat", &[libc_errno::ENXIO]),
    ("reopen", &[libc_errno::ENXIO]),
    ("unlink", &[libc_errno::EISDIR, libc_errno::EPERM]),
    ("rmdir", &[libc_errno::ENOTDIR, libc_errno::ENOTEMPTY]),
    (
        "rename",
        &[
            libc_errno::EISDIR,
            libc_errno::ENOTDIR,
            libc_errno::ENOTEMPTY,
            libc_errno::EPERM,
            libc_errno::EACCES,
            libc_errno::EINVAL,
        ],
    ),
    ("link", &[libc_errno::EPERM, libc_errno::EACCES]),
];

/// Numbers of `errno-base.h` and `errno.h`; the same on all architectures that there is a filter for.
mod libc_errno {
    pub(super) const EPERM: i32 = 1;
    pub(super) const ENXIO: i32 = 6;
    pub(super) const EACCES: i32 = 13;
    pub(super) const EXDEV: i32 = 18;
    pub(super) const ENOTDIR: i32 = 20;
    pub(super) const EISDIR: i32 = 21;
    pub(super) const EINVAL: i32 = 22;
    pub(super) const ENOTEMPTY: i32 = 39;
}

/// A call's errno, 0 for success, and how many records name its folders.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    errno: i32,
    records: u64,
}

/// What was found wrong in a mode.
#[derive(Debug, Default)]
struct Faults {
    /// Refused, and not on record.
    missed: Vec<String>,
    /// On record, and not refused.
    idle: Vec<String>,
    /// Another errno than the kernel's own.
    errnos: Vec<String>,
    refused: u64,
    records: u64,
}

fn table(cases: &[Case]) -> String {
    let line = |case: &Case| {
        let second = case.second.as_deref().unwrap_or_default();
        format!("{}\t{}\t{}\t{second}\n", case.id, case.operation, case.path)
    };
    cases.iter().map(line).collect()
}

fn errnos(text: &str) -> BTreeMap<usize, i32> {
    let pair = |line: &str| {
        let (id, errno) = line.split_once(' ')?;
        Some((id.parse().ok()?, errno.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// Makes the folders of all cases below two new ones.
fn build(world: &World, name: &str, cases: &[Case]) -> (String, String) {
    let (ws, out) = (world.ws().join(name), world.out().join(name));
    world.file("cases", &table(cases));
    let at = |path: &Path| path.display().to_string();
    let (ws, out) = (at(&ws), at(&out));
    world.setup(&format!("mkdir {ws} {out}; python3 program.py build cases {ws} {out}"));
    (ws, out)
}

fn natively(world: &World, cases: &[Case]) -> BTreeMap<usize, i32> {
    let (ws, out) = build(world, "native", cases);
    let native = world.native(&format!("python3 program.py run cases {ws} {out}"));
    errnos(&native.succeeded().stdout)
}

fn confined(world: &World, session: &Session, mode: &str, cases: &[Case]) -> Vec<Seen> {
    let (ws, out) = build(world, mode, cases);
    let mut seen = Vec::new();
    for (part, cases) in cases.chunks(AT_ONCE).enumerate() {
        let file = format!("cases-{mode}-{part}");
        world.file(&file, &table(cases));
        let reply = session.run(&format!("python3 -B program.py run {file} {ws} {out}"));
        reply.exits(0);
        let (outcome, errnos) = (reply.outcome(), errnos(&reply.text()));
        assert_eq!(outcome.unobserved, Some(0));
        for case in cases {
            let names = |path: &str| path.split('/').any(|name| name == format!("c{}", case.id));
            let own = outcome.denials.iter().filter(|denial| {
                names(&denial.path) || denial.second_path.as_deref().is_some_and(names)
            });
            let records = own.map(|denial| denial.count).sum();
            seen.push(Seen { errno: errnos[&case.id], records });
        }
        let told: u64 = outcome.denials.iter().map(|denial| denial.count).sum();
        assert_eq!(outcome.denials_total, Some(told), "{:?}", outcome.denials);
    }
    seen
}

fn loses(case: &Case, native: i32, confined: i32) -> bool {
    use libc_errno::{EACCES, EXDEV};
    [EACCES, EXDEV].contains(&confined)
        && LOSES.iter().any(|(operation, errnos)| {
            case.operation.starts_with(operation) && errnos.contains(&native)
        })
}

fn compare(cases: &[Case], native: &BTreeMap<usize, i32>, seen: &[Seen]) -> Faults {
    let mut faults = Faults::default();
    for (case, seen) in cases.iter().zip(seen) {
        let native = native[&case.id];
        let told = || {
            let second = case.second.as_deref().unwrap_or_default();
            let Case { operation, path, .. } = case;
            format!("{operation} {path} {second}: natively {native}, {seen:?}")
        };
        let is_refused = native == 0 && seen.errno != 0;
        faults.refused += u64::from(is_refused);
        faults.records += seen.records;
        match (is_refused, seen.records) {
            (true, 1) | (false, 0) => {}
            (true, 0) => faults.missed.push(told()),
            _ => faults.idle.push(told()),
        }
        let is_landlocks = [libc_errno::EACCES, libc_errno::EXDEV].contains(&seen.errno);
        if is_refused && !is_landlocks {
            faults.errnos.push(told());
        }
        if native != 0 && seen.errno != native && !loses(case, native, seen.errno) {
            faults.errnos.push(told());
        }
    }
    faults
}

/// Both are 1 when nothing is missed and nothing idle.
fn judge(mode: &str, faults: &Faults, calls: usize) {
    let Faults { missed, idle, errnos, refused, records } = faults;
    let share = |wrong: usize, all: u64| 1.0 - wrong as f64 / all.max(1) as f64;
    let (precision, recall) = (share(idle.len(), *records), share(missed.len(), *refused));
    println!(
        "{mode}: {calls} calls, {refused} refused, {records} records: precision {precision:.4}, recall {recall:.4}"
    );
    let first = |faults: &[String]| faults.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), first(missed));
    assert!(idle.is_empty(), "{} idle:\n{}", idle.len(), first(idle));
    assert!(errnos.is_empty(), "{} errnos:\n{}", errnos.len(), first(errnos));
    assert!(*refused > 1_000, "a matrix that refuses nothing proves nothing: {refused}");
}

#[test]
fn a_record_stands_exactly_where_the_sandbox_refused() {
    let world = World::new();
    world.file("program.py", PROGRAM);
    let cases = cases::all();
    let native = natively(&world, &cases);
    for mode in CONFINED {
        let session = world.session(mode).open();
        let seen = confined(&world, &session, mode, &cases);
        judge(mode, &compare(&cases, &native, &seen), cases.len());
    }
    assert!(cases.len() * CONFINED.len() >= 10_000, "{}", cases.len());
    world.setup("chmod -R u+rwx .");
    world.native(&format!("chmod -R u+rwx {}", world.out().display())).succeeded();
    world.finish();
}
