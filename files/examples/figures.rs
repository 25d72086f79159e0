//! How long a read of 10 KB and of 1 GB and an edit of 100 MB take, and how much memory: printed, for people.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use brattice_files::edit::{Edit, Order, Rule};
use brattice_files::read::Caps;
use brattice_files::{Apply, Cancel, Context, Expected, FileEdits, Links, Window, edit, read};

type Failure = Box<dyn std::error::Error>;

/// The most memory that this process has had, in megabytes.
fn peak() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}

fn filled(path: &Path, line: &str, bytes: usize) -> Result<(), Failure> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for _ in 0..bytes / line.len() {
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}

fn main() -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("brattice-figures-{}", std::process::id()));
    fs::create_dir_all(folder.join("journal"))?;
    let answer = figures(&folder);
    fs::remove_dir_all(folder)?;
    answer
}

fn figures(folder: &Path) -> Result<(), Failure> {
    let (cancel, window) = (Cancel::default(), Window::lines(1, 2000)?);
    let line = "a line of a file that somebody reads, 64 bytes with its end ...\n";
    let small = folder.join("small");
    filled(&small, line, 10_240)?;
    let mut times = Vec::new();
    for _ in 0..2000 {
        let start = Instant::now();
        read(&small, window, Caps::default(), &cancel)?;
        times.push(start.elapsed());
    }
    times.sort();
    println!("read of 10 KB: p50 {:?}, p99 {:?}", times[1000], times[1980]);

    let path = folder.join("large");
    filled(&path, line, 1 << 30)?;
    let start = Instant::now();
    let reading = read(&path, window, Caps::default(), &cancel)?;
    let (lines, time) = (reading.total_lines, start.elapsed());
    println!("read of 1 GB, {lines} lines: {time:?}, peak {} MB", peak()?);

    let journal = folder.join("journal");
    let context = Context {
        journal: &journal,
        cancel: &cancel,
        lock_wait: Duration::from_secs(1),
        links: Links::Follow,
    };
    for (ends, line) in [("LF", line.to_owned()), ("CRLF", line.replace('\n', "\r\n"))] {
        filled(&path, &line, 100_000_000)?;
        for (rule, old) in [(Rule::Once, "needle"), (Rule::All, "64 bytes")] {
            let mut file = fs::OpenOptions::new().append(true).open(&path)?;
            file.write_all(b"needle\n")?;
            let edits = vec![Edit { old: old.to_owned(), new: "thread".to_owned(), rule }];
            let files = [FileEdits {
                path: path.clone(),
                edits,
                order: Order::Original,
                expected: Expected::Any,
            }];
            for apply in [Apply::DryRun, Apply::Write] {
                let start = Instant::now();
                let edited =
                    edit(&files, apply, context).map_err(|faults| format!("{faults:?}"))?;
                let (places, time) = (edited[0].replaced, start.elapsed());
                println!(
                    "{apply:?} of {places} places in 100 MB of {ends}: {time:?}, peak {} MB",
                    peak()?
                );
            }
        }
    }
    Ok(())
}
