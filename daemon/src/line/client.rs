//! The daemon's side of a line to a worker: calls by number, answered in whatever order they end.
//!
//! What is asked is written by whoever asks; only what the socket has no room for waits, in order, for the tokio task that
//! writes it then. Another one reads. When the worker dies its end closes, and whoever waits gets [`WorkerGone`]; when a
//! caller is dropped the worker is told to stop that call, and its answer goes nowhere.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::sync::{oneshot, watch};

use super::frame::{self, HEAD};
use super::message::ToWorker;
use super::outgoing::Outgoing;
use crate::socket::{self, Reader};

/// The worker ended before it had answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the process that did this for the session has ended")]
pub(crate) struct WorkerGone;

/// A worker that is asked `Q` and answers `A`. Clones are the same one.
#[derive(Debug)]
pub(crate) struct Client<Q, A>(Arc<Shared<A>>, PhantomData<fn(Q)>);

impl<Q, A> Clone for Client<Q, A> {
    fn clone(&self) -> Self {
        Client(self.0.clone(), PhantomData)
    }
}

#[derive(Debug)]
struct Shared<A> {
    outgoing: Outgoing,
    waiting: Arc<Mutex<Waiting<A>>>,
    gone: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Waiting<A> {
    next: u64,
    calls: HashMap<u64, oneshot::Sender<A>>,
    is_gone: bool,
}

/// A call that is waited for. Dropped, it is withdrawn.
struct Pending<'a, A> {
    shared: &'a Shared<A>,
    id: u64,
}

impl<Q: Serialize, A: DeserializeOwned + Send + 'static> Client<Q, A> {
    /// The worker at the other end of this socket. Called inside the runtime.
    ///
    /// # Errors
    /// The socket cannot be watched.
    pub(crate) fn new(socket: OwnedFd) -> std::io::Result<Self> {
        let (reader, writer) = socket::split(UnixStream::from(socket))?;
        let reader = BufReader::new(reader);
        let waiting = Waiting { next: 0, calls: HashMap::new(), is_gone: false };
        let waiting = Arc::new(Mutex::new(waiting));
        let outgoing = Outgoing::new(writer);
        let (say_gone, gone) = watch::channel(false);
        let answers = read(reader, waiting.clone());
        tokio::spawn(async move {
            answers.await;
            say_gone.send_replace(true);
        });
        Ok(Client(Arc::new(Shared { outgoing, waiting, gone }), PhantomData))
    }

    /// Has the worker do something.
    ///
    /// # Errors
    /// [`WorkerGone`]; it may have been done or not.
    pub(crate) async fn call(&self, request: Q) -> Result<A, WorkerGone> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut waiting = lock(&self.0.waiting);
            if waiting.is_gone {
                return Err(WorkerGone);
            }
            waiting.next += 1;
            let id = waiting.next;
            waiting.calls.insert(id, answer);
            id
        };
        let pending = Pending { shared: &self.0, id };
        // What does not fit a message was bounded where it came in.
        let frame = frame::frame(&ToWorker::Call { id, request }).map_err(|_| WorkerGone)?;
        self.0.outgoing.send(frame).await?;
        let answer = answered.await.map_err(|_| WorkerGone);
        drop(pending);
        answer
    }

    /// Returns once it has ended.
    pub(crate) async fn gone(&self) {
        // An error means that whoever would say so is gone, too.
        self.0.gone.clone().wait_for(|gone| *gone).await.ok();
    }

    /// Whether it answers nothing any more.
    pub(crate) fn is_gone(&self) -> bool {
        lock(&self.0.waiting).is_gone
    }
}

impl<A> Drop for Pending<'_, A> {
    fn drop(&mut self) {
        let shared = self.shared;
        if lock(&shared.waiting).calls.remove(&self.id).is_some()
            && let Ok(frame) = frame::frame(&ToWorker::<()>::Cancel { id: self.id })
        {
            // Without room the call goes on to its end, which nobody hears of.
            shared.outgoing.try_send(frame);
        }
    }
}

async fn read<A: DeserializeOwned>(mut reader: BufReader<Reader>, waiting: Arc<Mutex<Waiting<A>>>) {
    while let Ok((id, answer)) = receive(&mut reader).await {
        if let Some(asker) = lock(&waiting).calls.remove(&id) {
            // Whoever asked may have gone.
            asker.send(answer).ok();
        }
    }
    let mut waiting = lock(&waiting);
    waiting.is_gone = true;
    // Dropping the senders answers `WorkerGone`.
    waiting.calls.clear();
}

async fn receive<A: DeserializeOwned>(reader: &mut BufReader<Reader>) -> std::io::Result<(u64, A)> {
    let mut head = [0; HEAD];
    reader.read_exact(&mut head).await?;
    let mut bytes = vec![0; frame::length(head)?];
    reader.read_exact(&mut bytes).await?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn lock<A>(waiting: &Mutex<Waiting<A>>) -> MutexGuard<'_, Waiting<A>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream as StdStream;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    type Numbers = Client<u64, u64>;

    fn pair() -> (Numbers, StdStream) {
        let (near, far) = StdStream::pair().unwrap();
        (Client::new(near.into()).unwrap(), far)
    }

    /// Reads the next message of the client, off the runtime's threads.
    async fn received(far: &StdStream) -> Option<ToWorker<u64>> {
        let mut far = far.try_clone().unwrap();
        tokio::task::spawn_blocking(move || frame::receive(&mut far).unwrap()).await.unwrap()
    }

    fn answer(mut far: &StdStream, id: u64, answer: u64) {
        std::io::Write::write_all(&mut far, &frame::frame(&(id, answer)).unwrap()).unwrap();
    }

    #[tokio::test]
    async fn answers_find_their_calls_in_any_order() {
        let (client, far) = pair();
        let calls = [client.clone(), client]
            .map(|client| tokio::spawn(async move { client.call(1).await }));
        let mut ids = Vec::new();
        for _ in 0..2 {
            let Some(ToWorker::Call { id, .. }) = received(&far).await else { panic!("no call") };
            ids.push(id);
        }
        ids.sort_unstable();
        for id in ids.iter().rev() {
            answer(&far, *id, *id);
        }
        let mut told = Vec::new();
        for call in calls {
            told.push(timeout(PATIENCE, call).await.unwrap().unwrap().unwrap());
        }
        told.sort_unstable();
        assert_eq!(told, [1, 2]);
    }

    #[tokio::test]
    async fn a_call_that_is_dropped_is_withdrawn_and_its_answer_goes_nowhere() {
        let (client, far) = pair();
        let caller = client.clone();
        let call = tokio::spawn(async move { caller.call(1).await });
        let Some(ToWorker::Call { id, .. }) = received(&far).await else { panic!("no call") };
        call.abort();
        let Some(ToWorker::Cancel { id: withdrawn }) = received(&far).await else {
            panic!("no cancel")
        };
        assert_eq!(withdrawn, id);
        answer(&far, id, 9);
        let next = tokio::spawn(async move { client.call(1).await });
        let Some(ToWorker::Call { id, .. }) = received(&far).await else { panic!("no call") };
        answer(&far, id, 3);
        assert_eq!(timeout(PATIENCE, next).await.unwrap().unwrap(), Ok(3));
    }

    #[tokio::test]
    async fn when_the_worker_ends_its_calls_fail_and_so_do_later_ones() {
        let (client, far) = pair();
        let caller = client.clone();
        let call = tokio::spawn(async move { caller.call(1).await });
        received(&far).await.unwrap();
        drop(far);
        assert_eq!(timeout(PATIENCE, call).await.unwrap().unwrap().unwrap_err(), WorkerGone);
        timeout(PATIENCE, client.gone()).await.unwrap();
        assert!(client.is_gone());
        assert_eq!(client.call(1).await.unwrap_err(), WorkerGone);
    }
}
