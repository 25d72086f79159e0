//! The tokio task that owns the channel to a supervisor.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_policy::Profile;
use brattice_policy::layer::LayerReport;
use brattice_protocol::TaskId;
use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::sync::{Notify, mpsc, oneshot};

use super::error::RunError;
use super::short::Short;
use super::task::{Handover, ResumedHandle, TaskHandle};
use crate::exec::channel::{Channel, ChannelError, Packet, Received};
use crate::exec::message::{
    Failure, FromSupervisor, ResumedTask, RunRequest, Spooled, ToSupervisor,
};
use crate::exec::record::Ended;
use crate::exec::spec::TaskUsage;

/// Requests that wait to be sent. One that finds no room waits in its caller.
const QUEUE: usize = 256;

/// The way to the supervisor, and who waits for its answers.
#[derive(Clone, Debug)]
pub(super) struct Post {
    outgoing: mpsc::Sender<Packet>,
    waiting: Arc<Mutex<Waiting>>,
    /// The session's, where records and spools are.
    folder: Arc<Path>,
    /// Wakes the sending side for what is in [`Waiting::short`].
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Waiting {
    tasks: HashMap<TaskId, TaskHandle>,
    starting: HashMap<TaskId, oneshot::Sender<Result<(), RunError>>>,
    preparing: HashMap<u64, oneshot::Sender<Result<LayerReport, RunError>>>,
    measuring: HashMap<u64, oneshot::Sender<Option<Duration>>>,
    inspecting: HashMap<u64, (Vec<TaskUsage>, oneshot::Sender<Vec<TaskUsage>>)>,
    /// What a supervisor hands over that an earlier daemon started, until it is ready.
    handover: Handover,
    /// The supervisor's first word.
    ready: Option<oneshot::Sender<Result<Handover, Failure>>>,
    next_sequence: u64,
    is_closed: bool,
    /// The supervisor is left to the next daemon: its tasks are not lost.
    is_left: bool,
    short: Short,
}

impl Post {
    /// Starts the task that owns the channel. It ends when the supervisor does.
    /// The receiver tells the supervisor's first word: that it serves and what it hands over, or why it cannot.
    pub(super) fn start(
        channel: Channel,
        folder: &Path,
    ) -> std::io::Result<(Post, oneshot::Receiver<Result<Handover, Failure>>)> {
        channel.set_nonblocking()?;
        // The runtime knows stream and datagram sockets; packets keep their borders as datagrams do. It only tells when
        // the socket is ready: what is read and written is the channel's.
        let socket = std::os::unix::net::UnixDatagram::from(channel.into_fd());
        let channel = Channel::over(UnixDatagram::from_std(socket)?);
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (say_ready, ready) = oneshot::channel();
        let waiting =
            Arc::new(Mutex::new(Waiting { ready: Some(say_ready), ..Waiting::default() }));
        let wake = Arc::new(Notify::new());
        let (own_waiting, own_wake) = (Arc::clone(&waiting), Arc::clone(&wake));
        let post = Post { outgoing, waiting: own_waiting, folder: folder.into(), wake: own_wake };
        let own = post.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = send(&channel, queue, &waiting, &wake) => {}
                () = receive(&channel, &own) => {}
            }
            drop(channel);
            if !lock(&waiting).is_left {
                lose_all(&waiting);
            }
        });
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
        self.send(packet).await?;
        answered.await.unwrap_or(Err(RunError::Gone))
    }

    async fn send(&self, packet: Packet) -> Result<(), RunError> {
        self.outgoing.send(packet).await.map_err(|_| RunError::Gone)
    }

    /// Asks for a task's end. The first reason counts.
    pub(super) fn stop(&self, task: &TaskId, by: String) {
        lock(&self.waiting).short.stops.entry(task.clone()).or_insert(by);
        self.wake.notify_one();
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

async fn send(
    channel: &Channel<UnixDatagram>,
    mut queue: mpsc::Receiver<Packet>,
    waiting: &Mutex<Waiting>,
    wake: &Notify,
) {
    loop {
        // Handles hold the sender, and the supervisor's end is seen by the receiving side: the queue does not run dry.
        let packets = tokio::select! {
            biased;
            Some(packet) = queue.recv() => vec![packet],
            () = wake.notified() => {
                let short = {
                    let mut waiting = lock(waiting);
                    if waiting.is_left {
                        return;
                    }
                    waiting.short.take()
                };
                short.iter().filter_map(|message| Packet::new(message, Vec::new()).ok()).collect()
            }
        };
        for packet in packets {
            let sent = || ready_or(channel.send_packet(&packet));
            if !matches!(channel.holder().async_io(Interest::WRITABLE, sent).await, Ok(Ok(()))) {
                // Gone, and what it said last may still be unread: the receiving side says when all is.
                return std::future::pending().await;
            }
        }
    }
}

async fn receive(channel: &Channel<UnixDatagram>, post: &Post) {
    loop {
        let received =
            channel.holder().async_io(Interest::READABLE, || ready_or(channel.receive())).await;
        match received {
            Ok(Ok(received)) => deliver(received, post),
            Err(_) | Ok(Err(ChannelError::Closed)) => return,
            Ok(Err(error)) => {
                tracing::error!(%error, "the supervisor's message cannot be read");
                return;
            }
        }
    }
}

/// Tells the runtime "not ready" in its own way.
fn ready_or<T>(result: Result<T, ChannelError>) -> std::io::Result<Result<T, ChannelError>> {
    match result {
        Err(ChannelError::Full) => Err(std::io::ErrorKind::WouldBlock.into()),
        other => Ok(other),
    }
}

fn deliver(received: Received<FromSupervisor>, post: &Post) {
    let Received { message, mut descriptors } = received;
    let mut waiting = lock(&post.waiting);
    match message {
        FromSupervisor::Ready => {
            let handover = std::mem::take(&mut waiting.handover);
            first_word(&mut waiting, Ok(handover));
        }
        FromSupervisor::Adopted { highest } => waiting.handover.highest = highest,
        FromSupervisor::Resumed(task) => {
            let resumed = resume(*task, descriptors, post);
            waiting.tasks.insert(resumed.handle.id().clone(), resumed.handle.clone());
            waiting.handover.tasks.push(resumed);
        }
        FromSupervisor::Unfit(failure) => first_word(&mut waiting, Err(failure)),
        FromSupervisor::Prepared { sequence, result } => {
            if let Some(answer) = waiting.preparing.remove(&sequence) {
                // Whoever asked may have gone.
                answer.send(result.map_err(RunError::from)).ok();
            }
        }
        FromSupervisor::Started { task } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.started(descriptors.pop());
            }
            if let Some(answer) = waiting.starting.remove(&task) {
                answer.send(Ok(())).ok();
            }
        }
        FromSupervisor::StartFailed { task, failure } => {
            let handle = waiting.tasks.remove(&task);
            match (waiting.starting.remove(&task), handle) {
                (Some(answer), _) => {
                    answer.send(Err(failure.into())).ok();
                }
                // An earlier daemon asked for it.
                (None, Some(handle)) => handle.fail(failure.detail),
                (None, None) => {}
            }
        }
        FromSupervisor::Grew { task, stdout, stderr, spools } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.grew(stdout, stderr, pair(spools, descriptors));
            }
        }
        FromSupervisor::Returned { task, end, spools } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.set_returned(*end, pair(spools, descriptors));
            }
        }
        FromSupervisor::Measured { sequence, idle } => {
            if let Some(answer) = waiting.measuring.remove(&sequence) {
                // Whoever asked may have gone.
                answer.send(idle).ok();
            }
        }
        FromSupervisor::Inspected { sequence, tasks, more } => {
            if let Some((known, _)) = waiting.inspecting.get_mut(&sequence) {
                known.extend(tasks);
            }
            if !more && let Some((known, answer)) = waiting.inspecting.remove(&sequence) {
                // Whoever asked may have gone.
                answer.send(known).ok();
            }
        }
        FromSupervisor::Ended { task, at, end, spools } => {
            if let Some(handle) = waiting.tasks.remove(&task) {
                handle.end(Ended { at, end: *end }, pair(spools, descriptors));
            }
        }
    }
}

/// A handle on a task that an earlier daemon started.
fn resume(task: ResumedTask, mut descriptors: Vec<OwnedFd>, post: &Post) -> ResumedHandle {
    let ResumedTask { facts, placement, is_stopping, returned, stdout, stderr, spools } = task;
    let handle = TaskHandle::new(facts, post.clone());
    let stdin = descriptors.split_off(spools.len().min(descriptors.len())).pop();
    handle.grew(stdout, stderr, pair(spools, descriptors));
    handle.started(stdin);
    if let Some(end) = returned {
        handle.set_returned(*end, Vec::new());
    }
    ResumedHandle { handle, placement, is_stopping }
}

fn first_word(waiting: &mut Waiting, word: Result<Handover, Failure>) {
    if let Some(ready) = waiting.ready.take() {
        // Whoever started it may have gone.
        ready.send(word).ok();
    }
}

fn pair(spools: Vec<Spooled>, descriptors: Vec<OwnedFd>) -> Vec<(Spooled, OwnedFd)> {
    spools.into_iter().zip(descriptors).collect()
}

/// The supervisor is gone, or is being closed: whoever waits is told.
fn lose_all(waiting: &Mutex<Waiting>) {
    let Waiting { tasks, starting, preparing, measuring, inspecting, ready, .. } = {
        let mut waiting = lock(waiting);
        std::mem::replace(&mut *waiting, Waiting { is_closed: true, ..Waiting::default() })
    };
    // What stands on the disk is looked at, which may take its time.
    tokio::task::spawn_blocking(move || tasks.values().for_each(TaskHandle::lose));
    // Dropping the senders answers `Gone`.
    drop((starting, preparing, measuring, inspecting, ready));
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
