//! A page without what nobody reads: scripts, banners, marks beside headings; with links that lead somewhere from anywhere.

use dom_query::{Document, NodeRef};
use url::Url;

use super::code;

/// What is taken out, wherever it stands.
const GONE: &str = "nav, footer, button, select, dialog, script, style, noscript, template, iframe, object, embed, svg, canvas, link, \
    [hidden], [role=dialog], [role=alertdialog], [role=navigation], [role=search], \
    a.headerlink, a.header-anchor, a.anchor, a.heading-anchor, a.anchorjs-link, a.anchor-link, \
    .visually-hidden, .sr-only, .screen-reader-text, .skip-link, .noprint";

/// Elements that no mere form has in it.
const CONTENT: [&str; 5] = ["h1", "h2", "main", "article", "pre"];

/// What banners that ask about cookies are called.
const BANNERS: [&str; 6] =
    ["cookie-banner", "cookie-consent", "cookie-notice", "cookieconsent", "gdpr", "consent-banner"];

/// Tidies a page that was found at `found`.
pub(super) fn tidy(document: &Document, found: &Url) {
    let base = document.select("base[href]").attr("href");
    let base = base.and_then(|href| found.join(&href).ok()).unwrap_or_else(|| found.clone());
    document.select(GONE).remove();
    for node in document.select("[class*=cookie], [id*=cookie], [class*=consent], [id*=consent], [class*=gdpr], [id*=gdpr]").nodes() {
        let names = format!("{} {}", node.class().unwrap_or_default(), node.id_attr().unwrap_or_default());
        let names = names.to_ascii_lowercase().replace('_', "-");
        if BANNERS.iter().any(|banner| names.contains(banner)) && !node.has_name("body") {
            node.remove_from_parent();
        }
    }
    // The head of the site, not of an article; where the page's own heading stands in it, it is no such thing.
    for header in document.select("body > header, [role=banner]").nodes() {
        let is_headed = header.descendants_it().any(|node| node.has_name("h1"));
        if !is_headed {
            header.remove_from_parent();
        }
    }
    for aside in document.select("aside").nodes() {
        let is_of_article = aside.ancestors_it(None).any(|node| node.has_name("article"));
        if !is_of_article {
            aside.remove_from_parent();
        }
    }
    // Some sites are one large form.
    for form in document.select("form").nodes() {
        let is_content = |node: NodeRef| CONTENT.iter().any(|name| node.has_name(name));
        let is_page = form.descendants_it().any(is_content);
        match is_page {
            true => form.rename("div"),
            false => form.remove_from_parent(),
        }
    }
    name_authors(document);
    plain(document);
    code::name_languages(document);
    resolve(document, &base);
}

/// Whoever wrote a page's only text is taken out of it with the main content. Where there are several, they are of a thread.
fn name_authors(document: &Document) {
    let authors = document.select("[class*=author], [class*=byline], [rel=author]");
    if authors.nodes().len() > 1 {
        for author in authors.nodes() {
            author.remove_attrs(&["class", "rel", "itemprop"]);
            if author.has_name("div") || author.has_name("header") {
                author.rename("p");
            }
        }
    }
}

/// What the Markdown has no words for becomes what it has.
fn plain(document: &Document) {
    for caption in document.select("table > caption").nodes() {
        caption.rename("p");
        if let Some(table) = caption.parent() {
            table.insert_before(caption);
        }
    }
    for (from, to) in [("figcaption", "p"), ("dl", "div"), ("dt", "p"), ("dd", "div")] {
        document.select(from).rename(to);
    }
    for done in document.select("li input[type=checkbox]").nodes() {
        done.replace_with_html(if done.has_attr("checked") { "[x]" } else { "[ ]" });
    }
}

/// Makes links absolute. What leads nowhere is its text, and an image that stands in its own address is nothing.
fn resolve(document: &Document, base: &Url) {
    for link in document.select("a[href]").nodes() {
        let href = link.attr("href").unwrap_or_default();
        let to = base.join(href.trim()).ok();
        match to.filter(|to| matches!(to.scheme(), "http" | "https" | "mailto")) {
            Some(to) if !href.trim_start().starts_with('#') => link.set_attr("href", to.as_str()),
            _ => link.rename("span"),
        }
    }
    for image in document.select("img").nodes() {
        let source = image.attr("src").filter(|source| !source.starts_with("data:"));
        let source = source.or_else(|| image.attr("data-src"));
        match source.and_then(|source| base.join(source.trim()).ok()) {
            Some(source) => image.set_attr("src", source.as_str()),
            None => image.remove_from_parent(),
        }
    }
}

/// The page's own heading, where there is one and no other.
pub(super) fn heading(document: &Document) -> Option<String> {
    let headings = document.select("h1");
    match headings.nodes() {
        [only] => one_line(&only.text()),
        _ => None,
    }
}

/// The page's title.
pub(super) fn title(document: &Document) -> Option<String> {
    document.select("head > title").nodes().first().and_then(|title| one_line(&title.text()))
}

/// Its body.
pub(super) fn body(document: &Document) -> NodeRef<'_> {
    document.body().unwrap_or_else(|| document.root())
}

fn one_line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
