//! Where the parser puts a page's tree, up to a number of nodes.
//!
//! The parser itself is html5ever's, with all of its rules for unclosed and misplaced tags. Those rules copy: a few bytes may
//! stand for as many elements as are open. So what is beyond the cap is not made at all, and whoever feeds the parser stops.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName};

use super::tree::{Node, NodeId, Tree};

/// Nodes of a page. A long page of documentation has 50,000.
const MOST_NODES: usize = 150_000;

/// Elements in one another. Browsers stop at 512; the parser looks through all that are open for each tag.
const MOST_DEPTH: u32 = 5000;

/// Attributes that somebody looks at.
const KEPT: [&str; 23] = [
    "alt",
    "alttext",
    "aria-hidden",
    "checked",
    "class",
    "colspan",
    "content",
    "data-lang",
    "data-language",
    "data-src",
    "encoding",
    "hidden",
    "href",
    "id",
    "itemprop",
    "name",
    "property",
    "role",
    "rowspan",
    "src",
    "start",
    "style",
    "type",
];

/// A node as the parser knows it.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    id: NodeId,
    name: Option<QualName>,
}

/// An element's name as the parser asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameOf<'a>(&'a Namespace, &'a LocalName);

impl ElemName for NameOf<'_> {
    fn ns(&self) -> &Namespace {
        self.0
    }

    fn local_name(&self) -> &LocalName {
        self.1
    }
}

/// The tree as it grows.
#[derive(Debug)]
pub(super) struct Sink {
    tree: RefCell<Tree>,
    /// How many nodes were left out.
    left_out: Cell<u32>,
    /// Stands for the name of what has none.
    unnamed: QualName,
}

impl Sink {
    pub(super) fn new() -> Self {
        let unnamed = QualName::new(None, Namespace::from(""), LocalName::from(""));
        Sink { tree: RefCell::new(Tree::new()), left_out: Cell::new(0), unnamed }
    }

    /// Whether nodes were left out.
    pub(super) fn is_full(&self) -> bool {
        self.left_out.get() > 0
    }

    fn add(&self, node: Node) -> NodeId {
        let mut tree = self.tree.borrow_mut();
        if tree.len() >= MOST_NODES {
            let number = self.left_out.get().saturating_add(1);
            self.left_out.set(number);
            return NodeId::outside(number);
        }
        tree.add(node)
    }

    /// Text, or a node, as the last child of `parent`.
    fn append_to(&self, parent: NodeId, child: NodeOrText<Handle>) {
        match child {
            NodeOrText::AppendNode(Handle { id, .. }) => {
                let mut tree = self.tree.borrow_mut();
                tree.append(parent, id);
                if tree.depth(id) > MOST_DEPTH {
                    self.left_out.set(self.left_out.get().max(1));
                }
            }
            NodeOrText::AppendText(text) => {
                let last = {
                    let tree = self.tree.borrow();
                    match tree.tag(parent) {
                        Some("script" | "style") => return,
                        _ => tree.last_child(parent),
                    }
                };
                if !self.extend(last, &text) && parent.is_inside() {
                    let id = self.add(Node::Text(text));
                    self.tree.borrow_mut().append(parent, id);
                }
            }
        }
    }

    /// Adds text to a text; false where there is none.
    fn extend(&self, node: Option<NodeId>, text: &StrTendril) -> bool {
        let mut tree = self.tree.borrow_mut();
        match node.and_then(|id| tree.node_mut(id)) {
            Some(Node::Text(before)) => {
                before.push_tendril(text);
                true
            }
            _ => false,
        }
    }
}

fn kept(attributes: Vec<Attribute>) -> Vec<(LocalName, StrTendril)> {
    let is_kept = |attribute: &Attribute| KEPT.contains(&&*attribute.name.local);
    let kept = attributes.into_iter().filter(is_kept);
    kept.map(|attribute| (attribute.name.local, attribute.value)).collect()
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Tree;
    type ElemName<'a> = NameOf<'a>;

    fn finish(self) -> Tree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: NodeId::DOCUMENT, name: None }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> NameOf<'a> {
        let name = target.name.as_ref().unwrap_or(&self.unnamed);
        NameOf(&name.ns, &name.local)
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        let id = self.add(Node::Element(name.clone(), kept(attributes)));
        Handle { id, name: Some(name) }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Handle { id: NodeId::NOWHERE, name: None }
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Handle { id: NodeId::NOWHERE, name: None }
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.append_to(parent.id, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        before: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.tree.borrow().parent(element.id).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append_to(before.id, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// Nothing in a template is ever shown.
    fn get_template_contents(&self, _: &Handle) -> Handle {
        Handle { id: NodeId::NOWHERE, name: None }
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.id == other.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        match child {
            NodeOrText::AppendNode(Handle { id, .. }) => {
                self.tree.borrow_mut().insert_before(sibling.id, id);
            }
            NodeOrText::AppendText(text) => {
                let before = self.tree.borrow().before(sibling.id);
                if !self.extend(before, &text) && sibling.id.is_inside() {
                    let id = self.add(Node::Text(text));
                    self.tree.borrow_mut().insert_before(sibling.id, id);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        if let Some(Node::Element(_, known)) = tree.node_mut(target.id) {
            for (name, value) in kept(attributes) {
                if known.iter().all(|(other, _)| *other != name) {
                    known.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        let children: Vec<NodeId> = self.tree.borrow().children(node.id).collect();
        let mut tree = self.tree.borrow_mut();
        for child in children {
            tree.append(parent.id, child);
        }
    }
}
