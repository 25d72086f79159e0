//! A page as a tree of nodes in one vector: what a reader needs of it, and no more.
//!
//! Nodes are named by their places. There is no recursion here: how deep a page nests is its author's choice.

use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName, ns};

/// A node's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The document.
    pub(super) const DOCUMENT: NodeId = NodeId(0);

    /// A node that is nowhere: comments, say.
    pub(super) const NOWHERE: NodeId = NodeId(u32::MAX);

    /// One of those that the cap left out, by its number. The parser must be able to tell them apart.
    pub(super) const fn outside(number: u32) -> NodeId {
        NodeId(u32::MAX - number)
    }

    /// Whether it may be in a tree.
    pub(super) const fn is_inside(self) -> bool {
        self.0 < u32::MAX / 2
    }

    /// Where facts about it stand in a vector.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Node {
    /// The document, or the contents of a template.
    Fragment,
    /// An element, with the attributes that are looked at.
    Element(QualName, Vec<(LocalName, StrTendril)>),
    /// Text.
    Text(StrTendril),
}

#[derive(Debug)]
struct Place {
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    before: NodeId,
    after: NodeId,
    /// How many were above it when it came here.
    depth: u32,
    node: Node,
}

/// A page.
#[derive(Debug)]
pub(super) struct Tree(Vec<Place>);

impl Tree {
    /// A document without anything in it.
    pub(super) fn new() -> Self {
        let mut tree = Tree(Vec::new());
        tree.add(Node::Fragment);
        tree
    }

    /// How many nodes there are, those that were taken out again included.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A new node, which has no parent yet.
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        let nowhere = NodeId::NOWHERE;
        let place = Place {
            parent: nowhere,
            first: nowhere,
            last: nowhere,
            before: nowhere,
            after: nowhere,
            depth: 0,
            node,
        };
        self.0.push(place);
        id
    }

    fn place(&self, id: NodeId) -> Option<&Place> {
        self.0.get(id.index())
    }

    fn place_mut(&mut self, id: NodeId) -> Option<&mut Place> {
        self.0.get_mut(id.index())
    }

    fn next(&self, id: NodeId, step: impl Fn(&Place) -> NodeId) -> Option<NodeId> {
        self.place(id).map(step).filter(|next| *next != NodeId::NOWHERE)
    }

    /// What a node is.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.place(id).map_or(&Node::Fragment, |place| &place.node)
    }

    /// The same, to be changed.
    pub(super) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.place_mut(id).map(|place| &mut place.node)
    }

    /// How many were above it when it came to its place.
    pub(super) fn depth(&self, id: NodeId) -> u32 {
        self.place(id).map_or(0, |place| place.depth)
    }

    /// Its parent.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.next(id, |place| place.parent)
    }

    /// Its last child.
    pub(super) fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.next(id, |place| place.last)
    }

    /// The node before it, of the same parent.
    pub(super) fn before(&self, id: NodeId) -> Option<NodeId> {
        self.next(id, |place| place.before)
    }

    /// Its children, in their order.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = self.next(id, |place| place.first);
        std::iter::successors(first, |child| self.next(*child, |place| place.after))
    }

    /// It, its parent, and so on.
    pub(super) fn upwards(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |node| self.parent(*node))
    }

    /// It and all below it, parents before children, in the order of the page.
    pub(super) fn downwards(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.downwards_unless(root, |_| false)
    }

    /// The same without nodes of which this is true, and without what is below those.
    pub(super) fn downwards_unless(
        &self,
        root: NodeId,
        skips: impl Fn(NodeId) -> bool,
    ) -> impl Iterator<Item = NodeId> + '_
    where
        Self: Sized,
    {
        let mut order = Vec::new();
        let mut next = (!skips(root)).then_some(root);
        while let Some(id) = next {
            order.push(id);
            next = self.next(id, |place| place.first);
            let mut at = id;
            loop {
                while let Some(candidate) = next.filter(|candidate| skips(*candidate)) {
                    next = self.next(candidate, |place| place.after);
                }
                if next.is_some() || at == root {
                    break;
                }
                next = self.next(at, |place| place.after);
                at = self.parent(at).unwrap_or(root);
            }
        }
        order.into_iter()
    }

    /// The name of an element of HTML.
    pub(super) fn tag(&self, id: NodeId) -> Option<&str> {
        match self.node(id) {
            Node::Element(QualName { ns: ns!(html), local, .. }, _) => Some(local),
            Node::Element(..) | Node::Fragment | Node::Text(_) => None,
        }
    }

    /// The name of an element, whatever its language, with that.
    pub(super) fn name(&self, id: NodeId) -> Option<(&Namespace, &str)> {
        match self.node(id) {
            Node::Element(QualName { ns, local, .. }, _) => Some((ns, local)),
            Node::Fragment | Node::Text(_) => None,
        }
    }

    /// An attribute's value.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        match self.node(id) {
            Node::Element(_, attributes) => {
                let found = attributes.iter().find(|(known, _)| &**known == name);
                found.map(|(_, value)| &**value)
            }
            Node::Fragment | Node::Text(_) => None,
        }
    }

    /// Whether it has an attribute.
    pub(super) fn has(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    /// Takes a node out of its place, with all below it.
    pub(super) fn detach(&mut self, id: NodeId) {
        let nowhere = NodeId::NOWHERE;
        let Some(place) = self.place_mut(id) else { return };
        let (parent, before, after) = (place.parent, place.before, place.after);
        (place.parent, place.before, place.after) = (nowhere, nowhere, nowhere);
        match self.place_mut(before) {
            Some(place) => place.after = after,
            None => self.set_first(parent, id, after),
        }
        match self.place_mut(after) {
            Some(place) => place.before = before,
            None => self.set_last(parent, id, before),
        }
    }

    fn set_first(&mut self, parent: NodeId, was: NodeId, first: NodeId) {
        if let Some(parent) = self.place_mut(parent).filter(|parent| parent.first == was) {
            parent.first = first;
        }
    }

    fn set_last(&mut self, parent: NodeId, was: NodeId, last: NodeId) {
        if let Some(parent) = self.place_mut(parent).filter(|parent| parent.last == was) {
            parent.last = last;
        }
    }

    /// Makes a node the last child of another.
    pub(super) fn append(&mut self, parent: NodeId, child: NodeId) {
        self.detach(child);
        if self.place(child).is_none() {
            return;
        }
        let Some(above) = self.place_mut(parent) else { return };
        let depth = above.depth + 1;
        let before = std::mem::replace(&mut above.last, child);
        match self.place_mut(before) {
            Some(place) => place.after = child,
            None => self.set_first(parent, NodeId::NOWHERE, child),
        }
        if let Some(place) = self.place_mut(child) {
            (place.parent, place.before, place.depth) = (parent, before, depth);
        }
    }

    /// Puts a node right before another.
    pub(super) fn insert_before(&mut self, sibling: NodeId, child: NodeId) {
        self.detach(child);
        if self.place(child).is_none() {
            return;
        }
        let Some(parent) = self.parent(sibling) else { return };
        let Some(next) = self.place_mut(sibling) else { return };
        let depth = next.depth;
        let before = std::mem::replace(&mut next.before, child);
        match self.place_mut(before) {
            Some(place) => place.after = child,
            None => self.set_first(parent, sibling, child),
        }
        if let Some(place) = self.place_mut(child) {
            (place.parent, place.before, place.after) = (parent, before, sibling);
            place.depth = depth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tree: &mut Tree, text: &str) -> NodeId {
        tree.add(Node::Text(text.into()))
    }

    fn order(tree: &Tree) -> Vec<String> {
        let of = |id| match tree.node(id) {
            Node::Text(text) => text.to_string(),
            _ => "-".to_owned(),
        };
        tree.downwards(NodeId::DOCUMENT).map(of).collect()
    }

    #[test]
    fn nodes_are_appended_inserted_and_taken_out() {
        let mut tree = Tree::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| text(&mut tree, name));
        for (parent, child) in [(NodeId::DOCUMENT, a), (NodeId::DOCUMENT, b), (a, c)] {
            tree.append(parent, child);
        }
        tree.insert_before(b, d);
        assert_eq!(order(&tree), ["-", "a", "c", "d", "b"]);
        tree.insert_before(a, b);
        assert_eq!(order(&tree), ["-", "b", "a", "c", "d"]);
        tree.detach(d);
        tree.append(c, d);
        assert_eq!(order(&tree), ["-", "b", "a", "c", "d"]);
        tree.detach(a);
        assert_eq!(order(&tree), ["-", "b"]);
        assert_eq!((tree.parent(d), tree.before(a), tree.last_child(c)), (Some(c), None, Some(d)));
        for nowhere in [NodeId::NOWHERE, NodeId::outside(7)] {
            tree.append(NodeId::DOCUMENT, nowhere);
            tree.insert_before(b, nowhere);
            assert_eq!(order(&tree), ["-", "b"]);
        }
        tree.append(NodeId::NOWHERE, b);
        assert_eq!(order(&tree), ["-"]);
    }

    #[test]
    fn a_node_that_is_skipped_takes_what_is_below_it_along() {
        let mut tree = Tree::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| text(&mut tree, name));
        for (parent, child) in
            [(NodeId::DOCUMENT, a), (a, b), (NodeId::DOCUMENT, c), (NodeId::DOCUMENT, d)]
        {
            tree.append(parent, child);
        }
        let left: Vec<_> =
            tree.downwards_unless(NodeId::DOCUMENT, |id| id == a || id == d).collect();
        assert_eq!(left, [NodeId::DOCUMENT, c]);
        assert_eq!(tree.downwards_unless(a, |id| id == a).count(), 0);
    }
}
