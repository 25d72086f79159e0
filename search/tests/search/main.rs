//! The search engine from outside: trees on disk, queries, and what comes of them.

#[cfg(test)]
mod against_git;
#[cfg(test)]
mod against_naive;
#[cfg(test)]
mod cancel;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod content;
#[cfg(test)]
mod globs;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod odd;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tree;
