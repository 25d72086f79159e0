//! Tests of the server over real sockets: `harness` runs one, the others are grouped by what a
//! peer tries.

mod admission;
mod harness;
mod hostile;
mod requests;
mod sockets;
