//! Standard input, passed on to the task when it is a pipe or a file.

use std::io::{self, IsTerminal as _, Read as _};

use brattice_protocol::bytes;
use brattice_protocol::task::InputParams;
use rustix::fs::{FileType, fstat, major, minor};
use tokio::sync::mpsc;

use super::task::Task;
use crate::cli::Failure;

/// Bytes in one `task.input`: in base64 they are 64 KiB, the most that it takes.
const PIECE: usize = 48 << 10;

/// The device number of `/dev/null` (Documentation/admin-guide/devices.txt in the kernel's source).
const NULL: (u32, u32) = (1, 3);

/// Where the task's standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nowhere: the task reads `/dev/null`.
    Nothing,
    /// Ours, which is a pipe, a socket or a file.
    Stdin,
}

impl Source {
    /// A person at a terminal is not piping anything, and `/dev/null` needs no passing on.
    pub(super) fn of_stdin() -> io::Result<Self> {
        let stdin = io::stdin();
        let stat = fstat(&stdin)?;
        let is_null = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && (major(stat.st_rdev), minor(stat.st_rdev)) == NULL;
        Ok(if stdin.is_terminal() || is_null { Source::Nothing } else { Source::Stdin })
    }
}

impl Task {
    /// Passes standard input on until it ends or the command takes no more.
    pub(super) async fn feed(&self, source: Source) -> Result<(), Failure> {
        if source == Source::Nothing {
            return Ok(());
        }
        let mut pieces = read_stdin();
        loop {
            let piece = pieces.recv().await.transpose().map_err(Failure::Input)?;
            let eof = piece.is_none();
            let (data, encoding) = bytes::encode(&piece.unwrap_or_default());
            let (session, task) = (self.session.clone(), self.task.clone());
            let params = InputParams { session, task, data, encoding, eof };
            match self.client.task_input(&params).await {
                Ok(_) if !eof => {}
                // An answer that is an error means that the command closed its input or is over; neither is a fault.
                Err(error) if !error.is_answer() => return Err(error.into()),
                Ok(_) | Err(_) => return Ok(()),
            }
        }
    }
}

/// Reads standard input in a thread of its own, at most two pieces ahead. A read cannot be called off, so the thread
/// ends at the end of the input, at the next piece that nobody takes, or with the process.
fn read_stdin() -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, pieces) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut buffer = vec![0; PIECE];
        loop {
            let piece = match stdin.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(buffer[..length].to_vec()),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
                Err(fault) => Err(fault),
            };
            let broken = piece.is_err();
            if sender.blocking_send(piece).is_err() || broken {
                return;
            }
        }
    });
    pieces
}
