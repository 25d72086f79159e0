//! Taking over a supervisor that an earlier daemon started.
//!
//! It is no child of this daemon, so its end is learnt by a descriptor of the process (pidfd_open(2)) that is opened
//! while its channel proves that it lives: a number alone is never trusted.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::sync::{oneshot, watch};

use super::post::Post;
use super::start::{Handle, Supervisor};
use super::task::Handover;
use super::watched::watched;
use crate::exec::channel::Channel;
use crate::exec::supervisor::{ConnectError, connect};
use crate::workers::Workers;

/// How long a supervisor may take to hand everything over.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a supervisor was not taken over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AdoptError {
    /// It cannot be connected to.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It ended meanwhile, or its process cannot be watched.
    #[error("the supervisor cannot be watched")]
    Watch(#[source] io::Error),
    /// It ended before it had handed everything over.
    #[error("the supervisor ended while it was taken over")]
    Ended,
    /// It does not answer.
    #[error("the supervisor does not answer within {} s", PATIENCE.as_secs())]
    Silent,
}

impl Supervisor {
    /// Takes over the supervisor of a session's folder.
    ///
    /// # Errors
    /// See [`AdoptError`]. The supervisor is left as it is.
    pub(crate) async fn adopt(
        folder: &Path,
        workers: Workers,
    ) -> Result<(Supervisor, Handover), AdoptError> {
        let (channel, pid) = connect(folder)?;
        let process = watch(&channel, pid).map_err(AdoptError::Watch)?;
        let process = watched(process, Interest::READABLE).map_err(AdoptError::Watch)?;
        let (post, ready) = Post::start(channel, folder, workers).map_err(AdoptError::Watch)?;
        let (kill, mut killed) = oneshot::channel::<()>();
        let (say_died, died) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                // Readable once it has ended, and an error means that nobody can say when it does.
                _ = process.readable() => {}
                Ok(()) = &mut killed => {
                    // Killing fails only when it has ended; the wait tells.
                    pidfd_send_signal(&process, Signal::KILL).ok();
                    process.readable().await.map(drop).ok();
                }
            }
            say_died.send_replace(true);
        });
        let handover = match tokio::time::timeout(PATIENCE, ready).await {
            Ok(Ok(Ok(handover))) => handover,
            // Its channel is closed with the post: a supervisor that wakes later waits for another daemon.
            Ok(Ok(Err(_)) | Err(_)) => {
                post.leave();
                return Err(AdoptError::Ended);
            }
            Err(_) => {
                post.leave();
                return Err(AdoptError::Silent);
            }
        };
        let handle = Handle { pid, post, kill: Mutex::new(Some(kill)), died };
        Ok((Supervisor(Arc::new(handle)), handover))
    }
}

/// A descriptor of the process at the other end of the channel.
fn watch(channel: &Channel, pid: u32) -> io::Result<OwnedFd> {
    let gone = || io::Error::from(io::ErrorKind::ConnectionReset);
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let process = pidfd_open(number, PidfdFlags::NONBLOCK)?;
    // Nobody else holds that end: while it is open, the number is still the supervisor's.
    let mut polled = [PollFd::new(channel, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    let [polled] = polled;
    if polled.revents().intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(gone());
    }
    Ok(process)
}
