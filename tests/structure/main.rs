//! House rules that are checked by reading the repository: who imports whom, sizes, where unsafe code stands, names,
//! leftovers, and documents that name what is not there.
//!
//! Each rule is a pure function from sources (or documents) to a list of violations, a line each. Its test runs it over
//! the repository and expects nothing; a second test runs it over a small sample that breaks it, so that a rule which
//! has gone blind fails. Behaviour is left to the other test targets.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod names;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod unsafe_code;
