//! What is asked of a supervisor, and who waits for its answers. A request is sent by whoever asks, where the channel has
//! room; what has to wait for some, and what comes back, is carried by `carry`.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use brattice_policy::Profile;
use brattice_policy::layer::LayerReport;
use brattice_protocol::TaskId;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::{self, Permit};
use tokio::sync::{Notify, oneshot};

use super::carry::carry;
use super::error::RunError;
use super::short::{Handing, Short};
use super::task::{Handover, TaskHandle};
use crate::exec::channel::{Channel, Packet};
use crate::exec::message::{Failure, RunRequest, ToSupervisor};
use crate::exec::spec::{TaskUsage, Urgency};
use crate::socket;
use crate::workers::Workers;

/// Requests that wait to be sent. One that finds no room waits in its caller.
const QUEUE: usize = 256;

/// The way to the supervisor, and who waits for its answers.
#[derive(Clone, Debug)]
pub(super) struct Post {
    outgoing: mpsc::Sender<Outgoing>,
    /// The carrier's: the channel closes when that ends, whoever still has a handle.
    way: Weak<Way>,
    waiting: Arc<Mutex<Waiting>>,
    /// The session's, where records and spools are.
    folder: Arc<Path>,
    /// Wakes the sending side for what is in [`Waiting::short`].
    pub(super) wake: Arc<Notify>,
}

/// The channel's socket, watched for what comes.
pub(super) type Watched = AsyncFd<OwnedFd>;

/// The channel, and how many requests wait for room in it.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) channel: Channel<Watched>,
    /// Those in the queue, and the one that its carrier is about to send. Held over a send, so that none overtakes them.
    queued: Mutex<usize>,
}

impl Way {
    /// Sends a request now, or has it wait in its place.
    fn send_or_queue(&self, outgoing: Outgoing, place: Permit<'_, Outgoing>) {
        let mut queued = lock(&self.queued);
        let is_sent = *queued == 0 && self.channel.send_packet(&outgoing.packet).is_ok();
        if !is_sent {
            *queued += 1;
            // What else may be wrong with it is found, and told, by the carrier.
            place.send(outgoing);
        }
    }

    /// A request of the queue was sent, or never will be.
    pub(super) fn one_less(&self) {
        *lock(&self.queued) -= 1;
    }
}

/// A request, and what it would start.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) packet: Packet,
    pub(super) starts: Option<TaskId>,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) tasks: HashMap<TaskId, TaskHandle>,
    pub(super) starting: HashMap<TaskId, oneshot::Sender<Result<(), RunError>>>,
    pub(super) preparing: HashMap<u64, oneshot::Sender<Result<LayerReport, RunError>>>,
    pub(super) measuring: HashMap<u64, oneshot::Sender<Option<Duration>>>,
    pub(super) inspecting: HashMap<u64, (Vec<TaskUsage>, oneshot::Sender<Vec<TaskUsage>>)>,
    /// What a supervisor hands over that an earlier daemon started, until it is ready.
    pub(super) handover: Handover,
    /// The supervisor's first word.
    pub(super) ready: Option<oneshot::Sender<Result<Handover, Failure>>>,
    pub(super) next_sequence: u64,
    pub(super) is_closed: bool,
    /// The supervisor is left to the next daemon: its tasks are not lost.
    pub(super) is_left: bool,
    pub(super) short: Short,
}

impl Post {
    /// Starts the tokio task that owns the channel. It ends when the supervisor does.
    /// The receiver tells the supervisor's first word: that it serves and what it hands over, or why it cannot.
    pub(super) fn start(
        channel: Channel,
        folder: &Path,
        workers: Workers,
    ) -> std::io::Result<(Post, oneshot::Receiver<Result<Handover, Failure>>)> {
        channel.set_nonblocking()?;
        let channel = Channel::over(socket::watch(channel.into_fd(), Interest::READABLE)?);
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (say_ready, ready) = oneshot::channel();
        let waiting =
            Arc::new(Mutex::new(Waiting { ready: Some(say_ready), ..Waiting::default() }));
        let wake = Arc::new(Notify::new());
        let way = Arc::new(Way { channel, queued: Mutex::new(0) });
        let post =
            Post { outgoing, way: Arc::downgrade(&way), waiting, folder: folder.into(), wake };
        tokio::spawn(carry(way, queue, post.clone(), workers));
        Ok((post, ready))
    }

    /// Asks for a mode to be set up.
    pub(super) async fn prepare(&self, profile: Profile) -> Result<LayerReport, RunError> {
        let (answer, answered) = oneshot::channel();
        let sequence = {
            let mut waiting = lock(&self.waiting);
            waiting.next_sequence += 1;
            waiting.next_sequence
        };
        // Written down first: what cannot be sent must have nobody waiting for its answer.
        let packet = Packet::new(&ToSupervisor::Prepare { sequence, profile }, Vec::new())?;
        {
            let mut waiting = lock(&self.waiting);
            if waiting.is_closed {
                return Err(RunError::Gone);
            }
            waiting.preparing.insert(sequence, answer);
        }
        self.send(packet).await?;
        answered.await.unwrap_or(Err(RunError::Gone))
    }

    /// Has the task's progress brought up to date; tells how long ago it last printed something.
    pub(super) async fn measure(&self, task: &TaskId) -> Result<Option<Duration>, RunError> {
        let (answer, answered) = oneshot::channel();
        let sequence = {
            let mut waiting = lock(&self.waiting);
            if waiting.is_closed {
                return Err(RunError::Gone);
            }
            waiting.next_sequence += 1;
            let sequence = waiting.next_sequence;
            waiting.measuring.insert(sequence, answer);
            sequence
        };
        let message = ToSupervisor::Measure { sequence, task: task.clone() };
        self.send(Packet::new(&message, Vec::new())?).await?;
        answered.await.map_err(|_| RunError::Gone)
    }

    /// Asks what the running tasks use.
    pub(super) async fn inspect(&self) -> Result<Vec<TaskUsage>, RunError> {
        let (answer, answered) = oneshot::channel();
        let sequence = {
            let mut waiting = lock(&self.waiting);
            if waiting.is_closed {
                return Err(RunError::Gone);
            }
            waiting.next_sequence += 1;
            let sequence = waiting.next_sequence;
            waiting.inspecting.insert(sequence, (Vec::new(), answer));
            sequence
        };
        self.send(Packet::new(&ToSupervisor::Inspect { sequence }, Vec::new())?).await?;
        answered.await.map_err(|_| RunError::Gone)
    }

    /// Asks for a task to be started, and returns once it was or was not.
    pub(super) async fn run(
        &self,
        task: &TaskHandle,
        request: Box<RunRequest>,
        text: OwnedFd,
    ) -> Result<(), RunError> {
        let packet = Packet::new(&ToSupervisor::Run(request), vec![text])?;
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.is_closed {
                return Err(RunError::Gone);
            }
            waiting.tasks.insert(task.id().clone(), task.clone());
            waiting.starting.insert(task.id().clone(), answer);
        }
        self.post(Outgoing { packet, starts: Some(task.id().clone()) }).await?;
        answered.await.unwrap_or(Err(RunError::Gone))
    }

    async fn send(&self, packet: Packet) -> Result<(), RunError> {
        self.post(Outgoing { packet, starts: None }).await
    }

    async fn post(&self, outgoing: Outgoing) -> Result<(), RunError> {
        let place = self.outgoing.reserve().await.map_err(|_| RunError::Gone)?;
        let way = self.way.upgrade().ok_or(RunError::Gone)?;
        way.send_or_queue(outgoing, place);
        Ok(())
    }

    /// What waits for the supervisor's answers.
    pub(super) fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Asks for a task's end. The first reason counts, and the greatest urgency.
    pub(super) fn stop(&self, task: &TaskId, by: String, urgency: Urgency) -> Handing {
        let mut waiting = self.waiting();
        if waiting.is_closed {
            // It is lost, or about to be.
            return Handing::nothing();
        }
        if waiting.is_left {
            return Handing::refused();
        }
        let handing = waiting.short.stop(task, by, urgency);
        drop(waiting);
        self.wake.notify_one();
        handing
    }

    /// Asks to be told once the task's streams are longer than this.
    pub(super) fn notify(&self, task: &TaskId, known: (u64, u64)) {
        lock(&self.waiting).short.notifies.insert(task.clone(), known);
        self.wake.notify_one();
    }

    /// Tells that the task's input has ended.
    pub(super) fn close_input(&self, task: &TaskId) {
        lock(&self.waiting).short.inputs.insert(task.clone());
        self.wake.notify_one();
    }

    /// Asks for another size of the task's terminal. The last one counts.
    pub(super) fn resize(&self, task: &TaskId, size: (u16, u16)) {
        lock(&self.waiting).short.sizes.insert(task.clone(), size);
        self.wake.notify_one();
    }

    /// Closes the channel and leaves everything to the next daemon.
    pub(super) fn leave(&self) {
        lock(&self.waiting).is_left = true;
        self.wake.notify_one();
    }

    /// The session's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it was left to the next daemon.
    pub(super) fn is_left(&self) -> bool {
        lock(&self.waiting).is_left
    }

    /// Asks the supervisor to stop everything and to end.
    pub(super) fn close(&self) {
        lock(&self.waiting).short.close = true;
        self.wake.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[tokio::test]
    async fn a_stop_is_handed_over_once_it_stands_in_the_supervisors_socket() {
        let scratch = Scratch::new();
        let (near, far) = Channel::pair().unwrap();
        let workers = Workers::start().unwrap();
        let (post, _ready) = Post::start(near, &scratch.path(""), workers).unwrap();
        // A supervisor that reads nothing: its socket fills up.
        let filling = tokio::spawn({
            let post = post.clone();
            async move {
                loop {
                    post.prepare_unanswered().await;
                }
            }
        });
        while post.outgoing.capacity() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        filling.abort();
        let handing =
            post.stop(&TaskId::numbered(1), "by a test".to_owned(), Urgency::Graceful).done();
        tokio::pin!(handing);
        let waited = tokio::time::timeout(Duration::from_millis(100), &mut handing).await;
        assert!(waited.is_err(), "nobody has it yet");
        // It is read from another thread, as another process would.
        let reader = std::thread::spawn(move || {
            while let Ok(received) = far.receive::<ToSupervisor>() {
                if let ToSupervisor::Stop { task, by, .. } = received.message {
                    return (task, by);
                }
            }
            unreachable!("the stop comes");
        });
        assert_eq!(handing.await, Ok(()));
        let told = reader.join().unwrap();
        assert_eq!(told, (TaskId::numbered(1), "by a test".to_owned()));
    }

    impl Post {
        async fn prepare_unanswered(&self) {
            let message = ToSupervisor::Inspect { sequence: 0 };
            self.send(Packet::new(&message, Vec::new()).unwrap()).await.unwrap();
        }
    }
}
