//! The reading pass: which part of a page is its content, and what inside of that belongs to the site.
//!
//! It errs on the side of too much. Pages are read by somebody who skips a menu without trouble and cannot ask for what was
//! left out; so nothing is judged by how much it links, only by what it is called, and never what holds most of the text.

use super::element::{heading_level, is_furniture, is_gutter, is_hidden, is_of_site, is_unseen};
use super::tree::{Node, NodeId, Tree};

/// Characters of content below which a page is shown as if nothing were known of it.
const FEW: usize = 25;

/// What is to be read of a page.
#[derive(Debug)]
pub(super) struct Reading {
    /// Where it begins.
    pub(super) root: NodeId,
    /// The nodes that are left out, with all below them.
    left_out: Vec<bool>,
    /// The title, where the content does not begin with one.
    pub(super) title: Option<String>,
    /// Whether an element holds one that begins a line of its own.
    pub(super) holds_block: Vec<bool>,
}

impl Reading {
    /// Whether a node is left out.
    pub(super) fn leaves_out(&self, id: NodeId) -> bool {
        self.left_out.get(id.index()).copied().unwrap_or(true)
    }

    /// Whether a node holds one that begins a line of its own.
    pub(super) fn holds_block(&self, id: NodeId) -> bool {
        self.holds_block.get(id.index()).copied().unwrap_or(false)
    }
}

/// What the nodes of a page hold.
struct Facts {
    /// Characters that are no blank space.
    text: Vec<usize>,
    /// Of those, such as lead elsewhere.
    linked: Vec<usize>,
    /// Whether it holds the page's content by its own word: `main`, `article`, or a heading of the first level.
    holds_content: Vec<bool>,
    holds_block: Vec<bool>,
}

/// Looks at a page.
pub(super) fn read(tree: &Tree) -> Reading {
    let order: Vec<NodeId> = tree.downwards(NodeId::DOCUMENT).collect();
    let body = order.iter().copied().find(|id| tree.tag(*id) == Some("body"));
    let body = body.unwrap_or(NodeId::DOCUMENT);
    let mut unseen = vec![false; tree.len()];
    let mut hidden = vec![false; tree.len()];
    for id in &order {
        let above = tree.parent(*id).is_some_and(|parent| unseen[parent.index()]);
        let unseen_here = above || is_unseen(tree, *id);
        unseen[id.index()] = unseen_here;
        let above = tree.parent(*id).is_some_and(|parent| hidden[parent.index()]);
        hidden[id.index()] = above || unseen_here || is_hidden(tree, *id);
    }
    let seen = Facts::of(tree, &order, &hidden);
    let left_out = without_site(tree, &order, &hidden, &seen, body);
    let kept = Facts::of(tree, &order, &left_out);
    let root = root(tree, &order, &left_out, &kept, body);
    if kept.text[root.index()] >= FEW || seen_little_more(&kept, root, tree, &order, &unseen, body)
    {
        let title = title(tree, &order, &left_out, root);
        return Reading { root, left_out, title, holds_block: kept.holds_block };
    }
    let all = Facts::of(tree, &order, &unseen);
    let title = title(tree, &order, &unseen, body);
    Reading { root: body, left_out: unseen, title, holds_block: all.holds_block }
}

/// Whether showing everything would tell no more than what was chosen.
fn seen_little_more(
    kept: &Facts,
    root: NodeId,
    tree: &Tree,
    order: &[NodeId],
    unseen: &[bool],
    body: NodeId,
) -> bool {
    let all = Facts::of(tree, order, unseen);
    all.text[body.index()] < 2 * FEW || all.text[body.index()] < 2 * kept.text[root.index()]
}

impl Facts {
    fn of(tree: &Tree, order: &[NodeId], left_out: &[bool]) -> Facts {
        let nothing = || vec![0; tree.len()];
        let no = || vec![false; tree.len()];
        let (mut text, mut linked) = (nothing(), nothing());
        let (mut holds_content, mut holds_block) = (no(), no());
        for id in order.iter().rev().filter(|id| !left_out[id.index()]) {
            let at = id.index();
            let tag = tree.tag(*id);
            if let Node::Text(own) = tree.node(*id) {
                text[at] = own.chars().filter(|sign| !sign.is_whitespace()).count();
            }
            if tag == Some("a") {
                linked[at] = text[at];
            }
            let Some(parent) = tree.parent(*id).map(NodeId::index) else { continue };
            text[parent] += text[at];
            linked[parent] += linked[at];
            let is_content = matches!(tag, Some("main" | "article" | "h1"))
                || tree.attribute(*id, "role") == Some("main");
            holds_content[parent] |= holds_content[at] || is_content;
            let is_block = tag.is_some_and(super::element::is_block);
            holds_block[parent] |= holds_block[at] || is_block;
        }
        Facts { text, linked, holds_content, holds_block }
    }

    fn is_mostly_links(&self, id: NodeId) -> bool {
        2 * self.linked[id.index()] > self.text[id.index()]
    }
}

/// What is left out: what nobody sees, and the site's furniture.
fn without_site(
    tree: &Tree,
    order: &[NodeId],
    hidden: &[bool],
    facts: &Facts,
    body: NodeId,
) -> Vec<bool> {
    let mut left_out = hidden.to_vec();
    let mut in_content = vec![false; tree.len()];
    let mut in_listing = vec![false; tree.len()];
    for id in order {
        let at = id.index();
        let tag = tree.tag(*id);
        let parent = tree.parent(*id).map(NodeId::index);
        let of_parent = |flags: &[bool]| parent.is_some_and(|parent| flags[parent]);
        in_content[at] = of_parent(&in_content) || matches!(tag, Some("main" | "article"));
        in_listing[at] = of_parent(&in_listing) || tag == Some("pre");
        if left_out[at] || of_parent(&left_out) {
            left_out[at] = true;
            continue;
        }
        // Names inside of a listing are its highlighter's.
        if in_listing[at] {
            left_out[at] = is_gutter(tree, *id) || tag == Some("button");
            continue;
        }
        let is_whole = matches!(tag, Some("html" | "body" | "main" | "article"));
        let is_protected =
            is_whole || facts.holds_content[at] || 2 * facts.text[at] > facts.text[body.index()];
        let of_site = match tag {
            Some("aside") => !in_content[at] || facts.is_mostly_links(*id),
            Some("footer") => !in_content[at] || facts.is_mostly_links(*id),
            Some("header") => !in_content[at] && facts.is_mostly_links(*id),
            Some("button") => !is_in_heading(tree, *id),
            // Some sites are one large form; the others are none of the content.
            Some("form") => true,
            _ => is_of_site(tree, *id) || is_gutter(tree, *id),
        };
        left_out[at] = !is_protected && (of_site || is_furniture(tree, *id));
    }
    left_out
}

/// Questions that open when they are pressed are buttons in headings.
fn is_in_heading(tree: &Tree, id: NodeId) -> bool {
    let names =
        |id| tree.tag(id).is_some_and(|tag| heading_level(tag).is_some() || tag == "summary");
    tree.upwards(id).skip(1).take(4).any(names)
}

/// The part that says itself that it is the content, where it is a good part of the page; else all of it.
fn root(tree: &Tree, order: &[NodeId], left_out: &[bool], facts: &Facts, body: NodeId) -> NodeId {
    let text = |id: &NodeId| facts.text[id.index()];
    let is_large = |id: &NodeId| 3 * text(id) >= text(&body);
    let kept = || order.iter().copied().filter(|id| !left_out[id.index()]);
    let is_main =
        |id: &NodeId| tree.tag(*id) == Some("main") || tree.attribute(*id, "role") == Some("main");
    if let Some(main) = kept().filter(is_main).filter(is_large).max_by_key(text) {
        return main;
    }
    let is_article = |id: NodeId| tree.tag(id) == Some("article");
    let is_outer = |id: &NodeId| is_article(*id) && !tree.upwards(*id).skip(1).any(is_article);
    let mut articles = kept().filter(is_outer);
    match (articles.next().filter(is_large), articles.next()) {
        (Some(article), None) => article,
        _ => body,
    }
}

/// The title of a page whose content has no heading of the first level: such a heading elsewhere, else what the page calls
/// itself.
fn title(tree: &Tree, order: &[NodeId], left_out: &[bool], root: NodeId) -> Option<String> {
    let is_first = |id: &NodeId| tree.tag(*id) == Some("h1") && !left_out[id.index()];
    let mut elsewhere = None;
    for id in order.iter().copied().filter(is_first) {
        if tree.upwards(id).any(|above| above == root) {
            return None;
        }
        elsewhere = elsewhere.or(Some(id));
    }
    let own = order.iter().copied().find(|id| tree.tag(*id) == Some("title"));
    let told = |id| text_of(tree, id, |_| false);
    let title = elsewhere.or(own).map(told)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// What a page calls itself, or its first heading.
pub(super) fn named(tree: &Tree) -> Option<String> {
    let of = |wanted| {
        let found = tree.downwards(NodeId::DOCUMENT).find(|id| tree.tag(*id) == Some(wanted))?;
        let text = text_of(tree, found, |_| false);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    };
    of("title").or_else(|| of("h1"))
}

/// The text of a node and all below it.
pub(super) fn text_of(tree: &Tree, id: NodeId, leaves_out: impl Fn(NodeId) -> bool) -> String {
    let mut text = String::new();
    for id in tree.downwards_unless(id, leaves_out) {
        if let Node::Text(own) = tree.node(id) {
            text.push_str(own);
        }
    }
    text
}
