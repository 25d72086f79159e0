//! `pages/NAME.html` becomes `pages/NAME.md`: its title, a blank line, its text, its notes. `WRITE_EXPECTED=1` writes what a page becomes now,
//! for somebody to read before it is kept.

use std::fs;
use std::path::Path;

use brattice_web::markdown;
use url::Url;

fn shown(html: &str) -> String {
    let base = Url::parse("https://tidewater.example/guide/ring.html").unwrap();
    let page = markdown(html.to_owned(), &base);
    let notes: String = page.notes.iter().map(|note| format!("\n{note}")).collect();
    format!("{}\n\n{}\n{notes}", page.title.unwrap_or_default(), page.text)
}

fn compare(name: &str) {
    let file = |ending: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(format!("{name}.{ending}"))
    };
    let html = fs::read_to_string(file("html")).unwrap();
    let became = shown(&html);
    if std::env::var_os("WRITE_EXPECTED").is_some() {
        fs::write(file("md"), &became).unwrap();
    }
    let expected = fs::read_to_string(file("md")).unwrap();
    assert_eq!(became, expected, "{name}");
}

#[test]
fn documentation() {
    compare("documentation");
}

#[test]
fn a_thread_keeps_every_post() {
    compare("thread");
}

#[test]
fn news_without_what_is_around_it() {
    compare("news");
}

#[test]
fn a_readme_as_a_code_host_shows_it() {
    compare("readme");
}

#[test]
fn an_issue_with_its_comments() {
    compare("issue");
}

#[test]
fn tables() {
    compare("tables");
}

#[test]
fn other_languages() {
    compare("languages");
}

#[test]
fn lists_in_lists() {
    compare("lists");
}

#[test]
fn code_with_its_language() {
    compare("code");
}

#[test]
fn a_list_of_links_is_not_emptied() {
    compare("index");
}

#[test]
fn posts_without_a_word_of_their_own_for_it() {
    compare("forum");
}

#[test]
fn an_encyclopedia_with_a_formula_and_notes() {
    compare("encyclopedia");
}

#[test]
fn what_is_not_seen_is_not_read() {
    compare("hidden");
}

#[test]
fn cells_that_span_hold_lists_and_hold_tables() {
    compare("cells");
}

#[test]
fn listings_with_numbers_beside_them_and_lines_of_their_own() {
    compare("listings");
}

#[test]
fn a_table_that_only_arranges_the_page() {
    compare("layout");
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(shown(""), "\n\n\n");
    assert_eq!(shown("<title>Only a title</title>"), "Only a title\n\n# Only a title\n");
    assert_eq!(shown("just text"), "\n\njust text\n");
}
