//! Where something stands in the order of paths.

/// The index of each component among its folder's entries, from the root down. A folder comes before what it holds, and
/// that before the folder's next sibling: the order of paths by their components, without comparing names again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(Vec<u32>);

impl Position {
    pub(crate) fn root() -> Self {
        Position(Vec::new())
    }

    /// The entry of that index in a folder that stands here.
    pub(crate) fn below(&self, index: usize) -> Self {
        let mut indices = Vec::with_capacity(self.0.len() + 1);
        indices.extend_from_slice(&self.0);
        indices.push(u32::try_from(index).unwrap_or(u32::MAX));
        Position(indices)
    }

    /// The sibling so many places further on.
    pub(crate) fn after(&self, count: usize) -> Self {
        let mut indices = self.0.clone();
        if let Some(last) = indices.last_mut() {
            *last = last.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        Position(indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_before_what_it_holds_and_that_before_its_sibling() {
        let folder = Position::root().below(3);
        let sorted = [
            Position::root(),
            folder.clone(),
            folder.below(0),
            folder.below(0).below(9),
            folder.below(1),
            folder.after(1),
        ];
        assert!(sorted.is_sorted());
        assert_eq!(folder.below(0).after(1), folder.below(1));
    }
}
