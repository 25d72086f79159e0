//! A page's tags, without a tree: how many and how deep, and a page that is nothing but its text. One pass, no memory but the depth.

/// How much of a page is laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) elements: usize,
    pub(super) depth: usize,
    pub(super) attributes: usize,
}

/// What a page is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) shape: Shape,
    pub(super) end: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Within all bounds.
    Ordinary,
    /// It has more elements; the first of them end here.
    Long { end: usize },
    /// It is deeper, or has an element with more attributes.
    Deep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    InTag,
}

/// A piece of a page.
enum Piece<'a> {
    Text(&'a str),
    Open {
        name: &'a str,
        attributes: usize,
    },
    Close {
        name: &'a str,
    },
    /// A comment, a declaration, a script.
    Nothing,
    /// The page ends in it.
    Unclosed,
}

/// Elements that have no content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr", "param",
];

/// Elements that end by themselves where another one begins, so that pages do not close them.
const SELF_ENDING: [&str; 14] = [
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rp",
    "rt",
];

/// Elements whose content is no markup.
const RAW: [&str; 8] =
    ["script", "style", "textarea", "title", "noembed", "noframes", "iframe", "xmp"];

/// Elements of a line.
const INLINE: [&str; 22] = [
    "a", "abbr", "b", "cite", "code", "em", "font", "i", "kbd", "label", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "time", "u", "var",
];

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Looks through a page until one of the bounds is passed.
pub(super) fn outline(html: &str, bounds: Bounds) -> Outline {
    let (mut elements, mut depth, mut shape) = (0, 0_usize, Shape::Ordinary);
    let mut rest = html;
    while !rest.is_empty() {
        let start = html.len() - rest.len();
        match next(&mut rest) {
            Piece::Open { name, attributes } => {
                elements += 1;
                if elements > bounds.elements && shape == Shape::Ordinary {
                    shape = Shape::Long { end: start };
                }
                if !is_one_of(&VOID, name) && !is_one_of(&SELF_ENDING, name) {
                    depth += 1;
                }
                let is_laid_out = shape == Shape::Ordinary;
                if is_laid_out && (depth > bounds.depth || attributes > bounds.attributes) {
                    return Outline { shape: Shape::Deep, end: Ending::Whole };
                }
            }
            Piece::Close { name } if !is_one_of(&SELF_ENDING, name) => {
                depth = depth.saturating_sub(1);
            }
            Piece::Unclosed => return Outline { shape, end: Ending::InTag },
            Piece::Close { .. } | Piece::Text(_) | Piece::Nothing => {}
        }
    }
    Outline { shape, end: Ending::Whole }
}

/// The same page as lines of text: nothing is in anything.
pub(super) fn flat(html: &str) -> String {
    let (mut out, mut rest) = (String::new(), html);
    let end_line = |out: &mut String| {
        if !out.ends_with("<br>") && !out.is_empty() {
            out.push_str("<br>");
        }
    };
    while !rest.is_empty() {
        match next(&mut rest) {
            Piece::Text(text) => out.push_str(if text.trim().is_empty() { " " } else { text }),
            Piece::Open { name, .. } | Piece::Close { name } if !is_one_of(&INLINE, name) => {
                end_line(&mut out);
            }
            Piece::Open { .. } | Piece::Close { .. } | Piece::Nothing | Piece::Unclosed => {}
        }
    }
    out
}

/// Takes the next piece off. Text never holds a `<` that begins a tag, so that it is markup in no other page either.
fn next<'a>(rest: &mut &'a str) -> Piece<'a> {
    let whole = *rest;
    let Some(tag) = whole.strip_prefix('<') else {
        let end = whole.find('<').unwrap_or(whole.len());
        let (text, after) = whole.split_at(end);
        *rest = after;
        return Piece::Text(text);
    };
    if let Some(comment) = tag.strip_prefix("!--") {
        return skip(rest, comment, "-->");
    }
    if tag.starts_with(['!', '?']) {
        return skip(rest, tag, ">");
    }
    let (is_closing, named) = match tag.strip_prefix('/') {
        Some(named) => (true, named),
        None => (false, tag),
    };
    if !named.starts_with(|first: char| first.is_ascii_alphabetic()) {
        // A lone sign, which is dropped.
        *rest = tag;
        return Piece::Nothing;
    }
    let end = named.find(|end: char| end.is_ascii_whitespace() || matches!(end, '/' | '>'));
    let (name, inside) = named.split_at(end.unwrap_or(named.len()));
    let Some((attributes, after)) = attributes(inside) else {
        *rest = "";
        return Piece::Unclosed;
    };
    *rest = after;
    if is_closing {
        return Piece::Close { name };
    }
    if is_one_of(&RAW, name) {
        *rest = after_raw(after, name);
        return Piece::Nothing;
    }
    Piece::Open { name, attributes }
}

fn skip<'a>(rest: &mut &'a str, inside: &'a str, end: &str) -> Piece<'a> {
    match inside.find(end) {
        Some(at) => {
            *rest = &inside[at + end.len()..];
            Piece::Nothing
        }
        None => {
            *rest = "";
            Piece::Unclosed
        }
    }
}

/// How many attributes a tag has at most, and what follows it. `None` where it does not end.
fn attributes(inside: &str) -> Option<(usize, &str)> {
    let (mut count, mut quote, mut was_space, mut was_equals) = (0, None, false, false);
    for (at, byte) in inside.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'>' => return Some((count, &inside[at + 1..])),
            // A quote opens a value only behind its sign.
            None if was_equals && matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None if byte.is_ascii_whitespace() || byte == b'/' => was_space = true,
            None => {
                if was_space && byte != b'=' {
                    count += 1;
                }
                was_space = false;
            }
        }
        if quote.is_none() && !byte.is_ascii_whitespace() {
            was_equals = byte == b'=';
        }
    }
    None
}

/// What follows an element whose content is no markup.
fn after_raw<'a>(inside: &'a str, name: &str) -> &'a str {
    let mut rest = inside;
    while let Some(at) = rest.find("</") {
        let close = &rest[at + 2..];
        if close.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return &rest[at..];
        }
        rest = close;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { elements: 4, depth: 3, attributes: 2 };

    fn shape(html: &str) -> Shape {
        outline(html, BOUNDS).shape
    }

    #[test]
    fn depth_is_of_what_must_be_closed() {
        assert_eq!(shape("<a><b><i>x</i></b></a>"), Shape::Ordinary);
        assert_eq!(shape("<a><b><i><u>x"), Shape::Deep);
        assert_eq!(shape("<ul><li>a<li>b<p>c<p>d"), Shape::Long { end: 18 });
        assert_eq!(shape("<script><a><b><i><u></script><p>x"), Shape::Ordinary);
        assert_eq!(shape("<!-- <a><b><i><u> --><p>x"), Shape::Ordinary);
    }

    #[test]
    fn attributes_are_counted_and_quotes_hide_what_looks_like_them() {
        assert_eq!(shape("<p a=1 b=2>"), Shape::Ordinary);
        assert_eq!(shape("<p a b c>"), Shape::Deep);
        assert_eq!(shape("<p title='a b c d > e' b>x"), Shape::Ordinary);
        assert_eq!(shape("<p title = \"a b c d\" b>x"), Shape::Ordinary);
    }

    #[test]
    fn a_page_that_ends_in_a_tag_is_seen() {
        let ends = |html: &str| outline(html, BOUNDS).end;
        assert_eq!(ends("<p>spam</p>"), Ending::Whole);
        assert_eq!(ends("<p>spam</p"), Ending::InTag);
        assert_eq!(ends("<p>a < b"), Ending::Whole);
        assert_eq!(ends("<p class=\"x"), Ending::InTag);
        assert_eq!(ends("<p><!-- x"), Ending::InTag);
    }

    #[test]
    fn a_flat_page_is_its_text() {
        let page = "<div><p>a <b>b</b></p><p>c &amp; d</div><script>x</script><!-- y --><p>1 < 2";
        assert_eq!(flat(page), "a b<br>c &amp; d<br>1  2");
    }
}
