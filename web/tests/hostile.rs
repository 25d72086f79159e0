//! Pages that are made to take time or memory: each must become something, and what is missing must be told.

use std::time::{Duration, Instant};

use brattice_web::{Cut, Note, Rendered, markdown};
use url::Url;

/// In a build without optimisation, on a machine that does other things.
const PATIENCE: Duration = Duration::from_secs(60);

fn rendered(html: String) -> Rendered {
    let begun = Instant::now();
    let page = markdown(html, &Url::parse("http://h.example/").unwrap());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    page
}

const ELEMENTS: Note = Note::Cut(Cut::Elements { most: 40_000 });

#[test]
fn what_is_nested_too_deeply_is_its_text() {
    for tag in ["div", "blockquote", "ul><li", "table><tr><td", "b", "span", "svg"] {
        let page = rendered(format!("<{tag}>").repeat(100_000) + "deep");
        assert_eq!((page.text.as_str(), page.notes), ("deep", vec![Note::TextOnly]), "{tag}");
    }
}

#[test]
fn of_too_many_elements_the_first_are_kept() {
    let page = rendered("<p>spam</p>".repeat(400_000));
    assert_eq!(page.text.matches("spam").count(), 40_000);
    assert_eq!(page.notes, [ELEMENTS]);
}

#[test]
fn an_element_with_too_many_attributes_is_its_text() {
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=1")).collect();
    let page = rendered(format!("<p{attributes}>text</p>"));
    assert_eq!((page.text.as_str(), page.notes), ("text", vec![Note::TextOnly]));
}

#[test]
fn formatting_that_is_never_closed_ends() {
    let bold: String = (0..150).map(|number| format!("<b id={number}>")).collect();
    let page = rendered(bold + &"<p>x".repeat(2_000));
    assert_eq!(page.text.matches('x').count(), 2_000);
}

#[test]
fn text_without_end_is_text() {
    let page = rendered("<".repeat(2 << 20));
    assert_eq!(page.notes, []);
    let page = rendered(format!("<p>{}", "A".repeat(4 << 20)));
    assert_eq!(page.text.len(), 4 << 20);
}
