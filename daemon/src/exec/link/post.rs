//! The tokio task that owns the channel to a supervisor.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_policy::layer::LayerReport;
use brattice_protocol::TaskId;
use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::sync::{mpsc, oneshot};

use super::error::RunError;
use super::task::TaskHandle;
use crate::exec::channel::{Channel, ChannelError, Packet, Received};
use crate::exec::message::{Failure, FromSupervisor, Spooled, ToSupervisor};

/// Requests that wait to be sent. One that finds no room waits in its caller.
const QUEUE: usize = 256;

/// A message to the supervisor and the descriptors beside it.
#[derive(Debug)]
pub(super) struct Outgoing {
    message: ToSupervisor,
    descriptors: Vec<OwnedFd>,
}

impl Outgoing {
    pub(super) fn plain(message: ToSupervisor) -> Self {
        Outgoing { message, descriptors: Vec::new() }
    }

    pub(super) fn with(message: ToSupervisor, descriptor: OwnedFd) -> Self {
        Outgoing { message, descriptors: vec![descriptor] }
    }
}

/// The way to the supervisor, and who waits for its answers.
#[derive(Clone, Debug)]
pub(super) struct Post {
    outgoing: mpsc::Sender<Outgoing>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    tasks: HashMap<TaskId, TaskHandle>,
    starting: HashMap<TaskId, oneshot::Sender<Result<(), RunError>>>,
    preparing: HashMap<u64, oneshot::Sender<Result<LayerReport, RunError>>>,
    /// The supervisor's first word.
    ready: Option<oneshot::Sender<Result<(), Failure>>>,
    next_sequence: u64,
    is_closed: bool,
}

impl Post {
    /// Starts the task that owns the channel. It ends when the supervisor does.
    /// The receiver tells the supervisor's first word: that it serves, or why it cannot.
    pub(super) fn start(
        channel: Channel,
    ) -> std::io::Result<(Post, oneshot::Receiver<Result<(), Failure>>)> {
        channel.set_nonblocking()?;
        // The runtime knows stream and datagram sockets; packets keep their borders as datagrams do. It only tells when
        // the socket is ready: what is read and written is the channel's.
        let socket =
            UnixDatagram::from_std(std::os::unix::net::UnixDatagram::from(channel.into_fd()))?;
        let channel = Channel::over(socket);
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (say_ready, ready) = oneshot::channel();
        let waiting =
            Arc::new(Mutex::new(Waiting { ready: Some(say_ready), ..Waiting::default() }));
        let post = Post { outgoing, waiting: Arc::clone(&waiting) };
        tokio::spawn(async move {
            tokio::select! {
                () = send(&channel, queue) => {}
                () = receive(&channel, &waiting) => {}
            }
            drop(channel);
            lose_all(&waiting);
        });
        Ok((post, ready))
    }

    /// Asks for a mode to be set up.
    pub(super) async fn prepare(
        &self,
        profile: brattice_policy::Profile,
    ) -> Result<LayerReport, RunError> {
        let (answer, answered) = oneshot::channel();
        let sequence = {
            let mut waiting = lock(&self.waiting);
            waiting.next_sequence += 1;
            let sequence = waiting.next_sequence;
            waiting.preparing.insert(sequence, answer);
            sequence
        };
        self.send(Outgoing::plain(ToSupervisor::Prepare { sequence, profile })).await?;
        answered.await.unwrap_or(Err(RunError::Gone))
    }

    /// Asks for a task to be started, and returns once it was or was not.
    pub(super) async fn run(&self, task: &TaskHandle, request: Outgoing) -> Result<(), RunError> {
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.is_closed {
                return Err(RunError::Gone);
            }
            waiting.tasks.insert(task.id().clone(), task.clone());
            waiting.starting.insert(task.id().clone(), answer);
        }
        self.send(request).await?;
        answered.await.unwrap_or(Err(RunError::Gone))
    }

    async fn send(&self, outgoing: Outgoing) -> Result<(), RunError> {
        self.outgoing.send(outgoing).await.map_err(|_| RunError::Gone)
    }

    /// Sends a message that nobody waits for. When the queue is full it is sent by a task of its own, in any order with
    /// others of its kind; when the supervisor is gone there is nothing to do.
    pub(super) fn send_soon(&self, outgoing: Outgoing) {
        if let Err(mpsc::error::TrySendError::Full(outgoing)) = self.outgoing.try_send(outgoing) {
            let queue = self.outgoing.clone();
            tokio::spawn(async move { queue.send(outgoing).await.unwrap_or(()) });
        }
    }
}

async fn send(channel: &Channel<UnixDatagram>, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some(Outgoing { message, descriptors }) = queue.recv().await {
        let Ok(packet) = Packet::new(&message, descriptors) else {
            tracing::error!("a message to the supervisor is too large");
            continue;
        };
        let sent = channel
            .holder()
            .async_io(Interest::WRITABLE, || ready_or(channel.send_packet(&packet)))
            .await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    // Every handle is gone; the channel stays open for what the supervisor has to say.
    std::future::pending().await
}

async fn receive(channel: &Channel<UnixDatagram>, waiting: &Mutex<Waiting>) {
    loop {
        let received =
            channel.holder().async_io(Interest::READABLE, || ready_or(channel.receive())).await;
        match received {
            Ok(Ok(received)) => deliver(received, waiting),
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

fn deliver(received: Received<FromSupervisor>, waiting: &Mutex<Waiting>) {
    let Received { message, mut descriptors } = received;
    let mut waiting = lock(waiting);
    match message {
        FromSupervisor::Ready => first_word(&mut waiting, Ok(())),
        FromSupervisor::Unfit(failure) => first_word(&mut waiting, Err(failure)),
        FromSupervisor::Prepared { sequence, result } => {
            if let Some(answer) = waiting.preparing.remove(&sequence) {
                // Whoever asked may have gone.
                drop(answer.send(result.map_err(RunError::from)));
            }
        }
        FromSupervisor::Started { task } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.started(descriptors.pop());
            }
            if let Some(answer) = waiting.starting.remove(&task) {
                answer.send(Ok(())).unwrap_or(());
            }
        }
        FromSupervisor::StartFailed { task, failure } => {
            waiting.tasks.remove(&task);
            if let Some(answer) = waiting.starting.remove(&task) {
                answer.send(Err(failure.into())).unwrap_or(());
            }
        }
        FromSupervisor::Grew { task, stdout, stderr, spools } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.grew(stdout, stderr, pair(spools, descriptors));
            }
        }
        FromSupervisor::Ended { task, end, spools } => {
            if let Some(handle) = waiting.tasks.remove(&task) {
                handle.end(*end, pair(spools, descriptors));
            }
        }
    }
}

fn first_word(waiting: &mut Waiting, word: Result<(), Failure>) {
    if let Some(ready) = waiting.ready.take() {
        // Whoever started it may have gone.
        ready.send(word).unwrap_or(());
    }
}

fn pair(spools: Vec<Spooled>, descriptors: Vec<OwnedFd>) -> Vec<(Spooled, OwnedFd)> {
    spools.into_iter().zip(descriptors).collect()
}

/// The supervisor is gone, or is being closed: whoever waits is told.
fn lose_all(waiting: &Mutex<Waiting>) {
    let Waiting { tasks, starting, preparing, ready, .. } = {
        let mut waiting = lock(waiting);
        std::mem::replace(&mut *waiting, Waiting { is_closed: true, ..Waiting::default() })
    };
    tasks.values().for_each(TaskHandle::lose);
    // Dropping the senders answers `Gone`.
    drop((starting, preparing, ready));
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
