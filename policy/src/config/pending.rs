//! Keys that are read and checked, and that this version would not act on yet.
//!
//! To take such a setting in silence would be a promise that nothing keeps, so a file that has one is refused by its name.
//! Whoever makes one of them hold takes its line out; nothing else knows of them.

/// What is not enforced yet: a key with its section, or one value of it.
pub const NOT_YET_ENFORCED: [&str; 2] = ["[tools] web_allow", "[mcp] trust_elicitation"];
