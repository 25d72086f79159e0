//! A list in which one thing is selected: by what it is, so that it stays selected whatever comes and goes around it.

/// Something that is told from others by a key.
pub(crate) trait Keyed {
    /// What tells it from others.
    type Key: Clone + PartialEq;

    /// Its key.
    fn key(&self) -> Self::Key;
}

/// Things in their order, and which one is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T: Keyed> {
    items: Vec<T>,
    selected: Option<T::Key>,
}

impl<T: Keyed> Default for List<T> {
    fn default() -> Self {
        List { items: Vec::new(), selected: None }
    }
}

impl<T: Keyed> List<T> {
    /// All of it.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// What is selected, and its place.
    pub(crate) fn selected(&self) -> Option<(usize, &T)> {
        let key = self.selected.as_ref()?;
        self.items.iter().enumerate().find(|(_, item)| item.key() == *key)
    }

    /// Puts other things in the place of those there are. Where what was selected is gone, what has its place then is.
    pub(crate) fn replace(&mut self, items: Vec<T>) {
        let place = self.selected().map_or(0, |(place, _)| place);
        self.items = items;
        if self.selected().is_none() {
            self.select_at(place);
        }
    }

    /// Adds one at the end, unless it is there.
    pub(crate) fn add(&mut self, item: T) {
        if self.items.iter().all(|there| there.key() != item.key()) {
            self.items.push(item);
        }
        if self.selected().is_none() {
            self.select_at(0);
        }
    }

    /// Takes one out.
    pub(crate) fn remove(&mut self, key: &T::Key) -> Option<T> {
        let place = self.items.iter().position(|item| item.key() == *key)?;
        let was_selected = self.selected.as_ref() == Some(key);
        let item = self.items.remove(place);
        if was_selected {
            self.select_at(place);
        }
        Some(item)
    }

    /// Selects the first that fits.
    pub(crate) fn select(&mut self, fits: impl Fn(&T) -> bool) {
        if let Some(item) = self.items.iter().find(|item| fits(item)) {
            self.selected = Some(item.key());
        }
    }

    /// Selects what is so many places below, or above where it is negative.
    pub(crate) fn step(&mut self, by: isize) {
        let place = self.selected().map_or(0, |(place, _)| place.saturating_add_signed(by));
        self.select_at(place);
    }

    /// The item at that place, or the last.
    fn select_at(&mut self, place: usize) {
        self.selected = self.items.get(place).or(self.items.last()).map(Keyed::key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keyed for char {
        type Key = char;

        fn key(&self) -> char {
            *self
        }
    }

    fn selected(list: &List<char>) -> Option<char> {
        list.selected().map(|(_, sign)| *sign)
    }

    #[test]
    fn what_is_selected_stays_so() {
        let mut list = List::default();
        list.step(1);
        assert_eq!(selected(&list), None);
        list.replace(vec!['a', 'b', 'c']);
        assert_eq!(selected(&list), Some('a'));
        list.step(1);
        list.replace(vec!['x', 'a', 'b', 'c']);
        assert_eq!(list.selected(), Some((2, &'b')));
        list.replace(vec!['x', 'a', 'c']);
        assert_eq!(selected(&list), Some('c'), "what has its place");
        list.replace(vec!['x']);
        assert_eq!(selected(&list), Some('x'));
        list.replace(Vec::new());
        assert_eq!(selected(&list), None);
    }

    #[test]
    fn steps_end_at_the_ends() {
        let mut list = List::default();
        list.replace(vec!['a', 'b', 'c']);
        for (by, expected) in
            [(-1, 'a'), (5, 'c'), (1, 'c'), (-1, 'b'), (isize::MIN, 'a'), (isize::MAX, 'c')]
        {
            list.step(by);
            assert_eq!(selected(&list), Some(expected), "{by}");
        }
        list.select(|sign| *sign == 'b');
        list.select(|sign| *sign == 'z');
        assert_eq!(selected(&list), Some('b'));
    }

    #[test]
    fn one_that_is_taken_out_leaves_its_place() {
        let mut list = List::default();
        for sign in ['a', 'b', 'b', 'c'] {
            list.add(sign);
        }
        assert_eq!((list.items(), selected(&list)), (['a', 'b', 'c'].as_slice(), Some('a')));
        assert_eq!(list.remove(&'b'), Some('b'));
        assert_eq!(selected(&list), Some('a'));
        assert_eq!(
            (list.remove(&'a'), list.remove(&'z'), selected(&list)),
            (Some('a'), None, Some('c'))
        );
    }
}
