//! The language of a code block, as pages write it into classes, put where the Markdown is made from.

use dom_query::{Document, NodeRef};

/// What classes begin with before a language's name.
const PREFIXES: [&str; 6] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:"];

/// Elements that end a line of code.
const LINE_ENDS: &str = "pre br";

/// Elements around a block that may name its language.
const AROUND: usize = 2;

/// Names that are no language.
const NONE: [&str; 8] =
    ["none", "plain", "plaintext", "text", "default", "notranslate", "wrapper", "html-basic"];

/// Names the language of each block, and ends its lines as text does.
pub(super) fn name_languages(document: &Document) {
    for end in document.select(LINE_ENDS).nodes() {
        end.replace_with_html("\n");
    }
    for pre in document.select("pre").nodes() {
        let inside = pre.children_it(false).find(|child| child.has_name("code"));
        let around = pre.ancestors_it(Some(AROUND));
        let places = inside.into_iter().chain([*pre]).chain(around);
        let language = places.filter_map(|place| language(&place)).next();
        if let Some(language) = language {
            pre.set_attr("data-lang", &language);
        }
    }
}

fn language(node: &NodeRef) -> Option<String> {
    let class = node.class().unwrap_or_default().replace("brush: ", "brush:");
    let named = class.split_ascii_whitespace().find_map(|class| {
        let name = PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix))?;
        is_language(name).then(|| name.to_ascii_lowercase())
    });
    named.or_else(|| {
        let told = ["data-lang", "data-language"].iter().find_map(|name| node.attr(name))?;
        is_language(&told).then(|| told.to_ascii_lowercase())
    })
}

fn is_language(name: &str) -> bool {
    let is_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'#' | b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 20 && name.bytes().all(is_name) && !NONE.contains(&name)
}
