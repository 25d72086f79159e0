//! Servers written in Python, as the cases have them, each on a port of its own.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use brattice_tests::eventually;

/// A server, which ends with the test.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
    child: Child,
}

impl Server {
    /// Runs a script, in which `PORT` stands for the port.
    pub(crate) fn start(script: &str) -> Server {
        Server::start_with(script, &[])
    }

    /// The same, with words that stand for others.
    pub(crate) fn start_with(script: &str, words: &[(&str, String)]) -> Server {
        let folder = std::env::temp_dir().join(format!("brattice-web-{}", unused_name()));
        std::fs::create_dir_all(&folder).unwrap();
        eventually("a server has a port", || {
            // Whoever takes the port first has it; the next attempt has another one.
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut text = script.replace("PORT", &port.to_string());
            for (word, meaning) in words {
                text = text.replace(word, meaning);
            }
            let mut child = Command::new("python3")
                .args(["-c", &text])
                .current_dir(&folder)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let serves = eventually("a server serves", || {
                let has_ended = child.try_wait().unwrap().is_some();
                let serves = TcpStream::connect(("127.0.0.1", port)).is_ok();
                (has_ended || serves).then_some(!has_ended)
            });
            serves.then(|| Server { port, folder: folder.clone(), child })
        })
    }

    /// The URL of a path on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it has written down.
    pub(crate) fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// A name that nobody else has: process, and a counter.
fn unused_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
