//! A glob as a sequence of components, and how far along it a path has come.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::GlobMatcher;

use super::compile;
use crate::rules::EntryKind;

/// A glob without braces.
#[derive(Debug)]
pub(crate) struct Alternative(Vec<Component>);

#[derive(Debug)]
enum Component {
    /// `**`: any number of names.
    Deep,
    Name {
        matcher: GlobMatcher,
        first: First,
    },
}

/// How a component begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Dot,
    Other,
}

impl Alternative {
    pub(super) fn new(components: &[String]) -> Result<Self, globset::Error> {
        let component = |text: &String| {
            if text == "**" {
                return Ok(Component::Deep);
            }
            let dotted = text.starts_with('.') || text.starts_with("\\.");
            let first = if dotted { First::Dot } else { First::Other };
            Ok(Component::Name { matcher: compile(text)?.compile_matcher(), first })
        };
        components.iter().map(component).collect::<Result<_, _>>().map(Alternative)
    }

    /// Whether a path below this folder can match.
    pub(super) fn enters(&self, relative: &[u8]) -> bool {
        if matches!(self.0.first(), Some(Component::Deep)) {
            return true;
        }
        let reached = names(relative).fold(self.start(), |reached, name| self.step(&reached, name));
        reached[..self.0.len()].contains(&true)
    }

    /// Whether the path's last name is matched by a component that begins with a dot, with which a file's path must end
    /// and a folder's must not.
    pub(super) fn names_hidden(&self, relative: &[u8], kind: EntryKind) -> bool {
        let dotted =
            |component: &Component| matches!(component, Component::Name { first: First::Dot, .. });
        if !self.0.iter().any(dotted) {
            return false;
        }
        let (folder, last) = match relative.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&relative[..slash], &relative[slash + 1..]),
            None => (&[][..], relative),
        };
        let reached = names(folder).fold(self.start(), |reached, name| self.step(&reached, name));
        self.0.iter().enumerate().any(|(index, component)| {
            let ends = index + 1 == self.0.len();
            let fits = ends == (kind == EntryKind::File);
            reached[index] && fits && dotted(component) && component.matches(last)
        })
    }

    /// For each component, and for the end, whether it may come next.
    fn start(&self) -> Vec<bool> {
        let mut reached = vec![false; self.0.len() + 1];
        self.reach(&mut reached, 0);
        reached
    }

    /// Marks a component, and the one after it where this may stand for nothing.
    fn reach(&self, reached: &mut [bool], index: usize) {
        reached[index] = true;
        if matches!(self.0.get(index), Some(Component::Deep)) {
            self.reach(reached, index + 1);
        }
    }

    fn step(&self, reached: &[bool], name: &[u8]) -> Vec<bool> {
        let mut next = vec![false; reached.len()];
        for (index, component) in self.0.iter().enumerate().filter(|(index, _)| reached[*index]) {
            match component {
                Component::Deep => self.reach(&mut next, index),
                Component::Name { .. } if component.matches(name) => {
                    self.reach(&mut next, index + 1)
                }
                Component::Name { .. } => {}
            }
        }
        next
    }
}

impl Component {
    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Component::Deep => true,
            Component::Name { matcher, .. } => matcher.is_match(Path::new(OsStr::from_bytes(name))),
        }
    }
}

fn names(relative: &[u8]) -> impl Iterator<Item = &[u8]> {
    relative.split(|&byte| byte == b'/').filter(|name| !name.is_empty())
}
