//! Every unsafe line of the workspace: one file per kernel concept, safe functions outward.
//!
//! Most system calls that Brattice makes have safe wrappers in `rustix`; what stands here has none, either because
//! the wrapper would be unsound in general (fork, vfork) or because the call is too new or too rare. Each block
//! states the invariant that makes it sound. Callers elsewhere are compiled with `deny(unsafe_code)`.

pub mod errno;
pub mod fd;
pub mod file;
pub mod fork;
pub mod landlock;
pub mod listener;
pub mod lock;
pub mod memory;
pub mod namespace;
pub mod peer;
pub mod seccomp;
pub mod signal;
pub mod spawn;
mod stack;
pub mod wait;

pub use rustix::io::Errno;
