//! attach
mod output;
