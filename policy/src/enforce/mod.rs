//! Builds the kernel's layers from a [`Profile`](crate::Profile) and applies them to the calling process.
//!
//! One file per layer. The order in which a launcher applies them is fixed, and each step's result is looked at:
//! namespaces where there are any, privileges (capabilities, limits, `no_new_privs`), then Landlock, then, in the zygote, seccomp. A layer that
//! cannot be applied is an error of the step; nothing runs behind a part of a sandbox. Control groups limit a command and
//! confine nothing: a launcher needs none, and they are made by the supervisor.

pub mod cgroup;
pub mod granted;
pub mod landlock;
pub mod namespaces;
pub mod privileges;
pub mod probe;
pub mod seccomp;
