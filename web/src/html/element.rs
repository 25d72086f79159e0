//! What elements are to a reader: which begin a line of their own, which are never seen, and which belong to the site rather
//! than to the page. The last is a guess by names; whoever uses it protects what holds most of the text.

use html5ever::ns;

use super::tree::{NodeId, Tree};

/// Whether an element begins a line of its own.
pub(super) fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// The level of a heading.
pub(super) fn heading_level(tag: &str) -> Option<usize> {
    ["h1", "h2", "h3", "h4", "h5", "h6"].iter().position(|name| *name == tag).map(|place| place + 1)
}

/// Whether nobody ever sees it, or it says nothing as text.
fn is_silent(tag: &str) -> bool {
    matches!(
        tag,
        "area"
            | "audio"
            | "canvas"
            | "datalist"
            | "embed"
            | "head"
            | "iframe"
            | "link"
            | "map"
            | "meta"
            | "meter"
            | "noframes"
            | "noscript"
            | "object"
            | "progress"
            | "script"
            | "select"
            | "style"
            | "template"
            | "textarea"
            | "title"
            | "video"
    )
}

/// Whether it is left out whatever the page is like.
pub(super) fn is_unseen(tree: &Tree, id: NodeId) -> bool {
    match tree.name(id) {
        None => false,
        Some((&ns!(svg), _)) => true,
        Some((&ns!(html), tag)) => is_silent(tag),
        Some(_) => false,
    }
}

/// Whether the page itself hides it.
pub(super) fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    let is_away = |style: &str| {
        let plain: String = style.chars().filter(|sign| !sign.is_whitespace()).collect();
        let plain = plain.to_ascii_lowercase();
        plain.contains("display:none") || plain.contains("visibility:hidden")
    };
    tree.has(id, "hidden")
        || tree.attribute(id, "aria-hidden") == Some("true")
        || tree.attribute(id, "style").is_some_and(is_away)
        || tree.attribute(id, "class").is_some_and(|class| {
            ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"]
                .iter()
                .any(|name| class.split_ascii_whitespace().any(|own| own == *name))
        })
}

/// Whether it carries the site rather than the page, by its tag or its role.
pub(super) fn is_of_site(tree: &Tree, id: NodeId) -> bool {
    let role = tree.attribute(id, "role").unwrap_or_default();
    matches!(tree.tag(id), Some("nav" | "search" | "dialog" | "menu"))
        || matches!(
            role,
            "navigation"
                | "search"
                | "contentinfo"
                | "complementary"
                | "dialog"
                | "alertdialog"
                | "menu"
                | "menubar"
                | "toolbar"
                | "banner"
        )
}

/// Words of class names that speak of a site's furniture.
const FURNITURE: [&str; 43] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "breadcrumb",
    "breadcrumbs",
    "clipboard",
    "consent",
    "cookie",
    "cookies",
    "copybtn",
    "copybutton",
    "editsection",
    "footer",
    "gdpr",
    "login",
    "menu",
    "modal",
    "navbar",
    "navbox",
    "navigation",
    "newsletter",
    "noprint",
    "onetrust",
    "pager",
    "pagination",
    "popup",
    "promo",
    "reactions",
    "related",
    "share",
    "sharing",
    "sidebar",
    "signup",
    "skip",
    "social",
    "sponsored",
    "subnav",
    "subscribe",
    "toc",
    "toolbar",
    "topbar",
    "topnav",
];

/// Names that an element has as its whole id. Ids of sections are made of their headings, so that a word in one says nothing.
const FURNITURE_IDS: [&str; 12] = [
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookie-consent",
    "footer",
    "navbar",
    "navigation",
    "related",
    "sidebar",
    "toc",
    "topbar",
    "topnav",
];

/// Whether its names speak of a site's furniture.
pub(super) fn is_furniture(tree: &Tree, id: NodeId) -> bool {
    let Some(tag) = tree.tag(id) else { return false };
    let is_custom = tag.contains('-');
    let holds = matches!(
        tag,
        "aside"
            | "details"
            | "div"
            | "dl"
            | "footer"
            | "form"
            | "header"
            | "ol"
            | "section"
            | "table"
            | "ul"
    );
    let class = tree.attribute(id, "class").unwrap_or_default();
    if (holds || is_custom || matches!(tag, "a" | "p" | "span"))
        && words(class).any(|word| FURNITURE.contains(&word.as_str()))
    {
        return true;
    }
    let name = tree.attribute(id, "id").unwrap_or_default();
    holds && !class.contains("section") && FURNITURE_IDS.contains(&name)
}

/// Whether it numbers the lines of a listing beside it.
pub(super) fn is_gutter(tree: &Tree, id: NodeId) -> bool {
    const NAMES: [&str; 8] = [
        "linenos",
        "lineno",
        "linenodiv",
        "gutter",
        "line-numbers-rows",
        "line-number",
        "line-numbers-sizer",
        "hljs-ln-numbers",
    ];
    let class = tree.attribute(id, "class").unwrap_or_default();
    class.split_ascii_whitespace().any(|name| NAMES.contains(&name))
}

/// The words of names such as `cookie-banner`, `shareTools` and `nav_bar`, in small letters.
pub(super) fn words(names: &str) -> impl Iterator<Item = String> + '_ {
    names.split(|sign: char| !sign.is_ascii_alphanumeric()).flat_map(|name| {
        let mut words = vec![String::new()];
        let mut was_small = false;
        for sign in name.chars() {
            if sign.is_ascii_uppercase() && was_small {
                words.push(String::new());
            }
            was_small = sign.is_ascii_lowercase();
            if let Some(word) = words.last_mut() {
                word.push(sign.to_ascii_lowercase());
            }
        }
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_words() {
        let of = |names| words(names).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        assert_eq!(
            of("cookie-banner shareTools nav_bar"),
            ["cookie", "banner", "share", "tools", "nav", "bar"]
        );
        assert_eq!(of("HTMLPage adapter"), ["htmlpage", "adapter"]);
    }
}
