//! A page's process, from both sides: the worker starts it, hears its answer and kills it; the process fetches one page.
//!
//! States: *asked* → *answered*, *late*, *withdrawn* or *dead*. Whichever it is, the process is killed and waited for: none is left.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use brattice_web::{Allowance, Page, PageFault, PageRequest, Times, fetch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::message::FetchFault;
use crate::line::{self, Flag, frame, receive};

/// Seconds that a page may take with all that is made of it.
pub(crate) const PAGE_SECONDS: u64 = 25;

/// Of these its body may take so many; what has come by then is read.
const BODY_SECONDS: u64 = 20;

/// Bytes of a page, no longer compressed.
const MOST_BYTES: usize = 5 << 20;

/// Bytes of its text.
const MOST_TEXT: usize = 200 * 1024;

/// Memory that its process may write to: the largest page and its tree fit with room, and nobody's machine is hurt.
const MOST_MEMORY: u64 = 96 << 20;

/// Stack of the thread that reads it.
const STACK: usize = 8 << 20;

/// Bytes of an answer.
const MOST_ANSWER: u64 = 4 << 20;

/// Variables that say whom to trust; all else that the worker was started with is not for a page.
const TRUST: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Withdraws a call: kills the processes of its pages, and those that would start.
#[derive(Clone, Debug, Default)]
pub(super) struct Withdrawal(Arc<Running>);

#[derive(Debug, Default)]
struct Running {
    is_raised: AtomicBool,
    children: Mutex<Vec<Arc<Mutex<Child>>>>,
}

impl Flag for Withdrawal {
    fn raise(&self) {
        self.0.is_raised.store(true, Ordering::SeqCst);
        for child in lock(&self.0.children).iter() {
            kill(child);
        }
    }

    fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::SeqCst)
    }
}

/// Fetches a page in a process of its own.
///
/// # Errors
/// See [`FetchFault`].
pub(super) fn fetch_apart(
    url: &str,
    allowed: &Allowance,
    withdrawal: &Withdrawal,
) -> Result<Page, FetchFault> {
    let until = Instant::now() + Duration::from_secs(PAGE_SECONDS);
    let failed = |error: io::Error| FetchFault::Start { reason: error.to_string() };
    let mut child = Command::new("/proc/self/exe")
        .arg("page")
        .env_clear()
        // Each further arena keeps what others gave back.
        .env("MALLOC_ARENA_MAX", "1")
        .envs(TRUST.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let child = Arc::new(Mutex::new(child));
    lock(&withdrawal.0.children).push(child.clone());
    if withdrawal.is_raised() {
        kill(&child);
    }
    let request = PageRequest {
        url: url.to_owned(),
        allowed: allowed.clone(),
        times: Times { body: Duration::from_secs(BODY_SECONDS) },
        most_bytes: MOST_BYTES,
        most_text: MOST_TEXT,
    };
    let sent = match (input, frame(&request)) {
        // One that is dead does not answer either.
        (Some(mut input), Ok(request)) => input.write_all(&request).ok(),
        (None, _) | (_, Err(_)) => None,
    };
    let heard = sent.and(output).map(|output| hear(output, until));
    lock(&withdrawal.0.children).retain(|other| !Arc::ptr_eq(other, &child));
    kill(&child);
    let ended = lock(&child).wait();
    if withdrawal.is_raised() {
        return Err(FetchFault::Withdrawn);
    }
    match heard {
        Some(Heard::Answer(answer)) => answer.map_err(FetchFault::Page),
        Some(Heard::Late) => Err(FetchFault::Late { seconds: PAGE_SECONDS }),
        Some(Heard::Nothing) | None => Err(FetchFault::Died {
            how: ended.map_or_else(|error| error.to_string(), |status| status.to_string()),
        }),
    }
}

fn kill(child: &Mutex<Child>) {
    // One that has ended needs no kill.
    lock(child).kill().ok();
}

enum Heard {
    Answer(Result<Page, PageFault>),
    Late,
    Nothing,
}

/// Hears what the process says, until it ends or the time is over.
fn hear(mut output: ChildStdout, until: Instant) -> Heard {
    let (mut said, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return Heard::Nothing };
        match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Heard::Late,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return Heard::Nothing,
        }
        match output.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => said.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Heard::Nothing,
        }
        if said.len() as u64 > MOST_ANSWER {
            return Heard::Nothing;
        }
    }
    match receive(&mut &said[..]) {
        Ok(Some(answer)) => Heard::Answer(answer),
        Ok(None) | Err(_) => Heard::Nothing,
    }
}

/// Runs the page role: one request on standard input, one answer on standard output.
pub(crate) fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer() -> io::Result<()> {
    let most = Some(MOST_MEMORY);
    setrlimit(Resource::Data, Rlimit { current: most, maximum: most })?;
    let request: Option<PageRequest> = line::receive(&mut io::stdin().lock())?;
    let request = request.ok_or(io::ErrorKind::UnexpectedEof)?;
    let reader = thread::Builder::new().stack_size(STACK).spawn(move || fetch(&request))?;
    let answer = reader.join().map_err(|_| io::ErrorKind::Other)?;
    io::stdout().lock().write_all(&frame(&answer)?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
