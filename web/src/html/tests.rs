//! Whatever a page is made of, it is read, and alike each time; and a reader whose time is up shows the beginning.

use proptest::prelude::*;

use super::*;

fn read_within(text: &str, time: Duration) -> Read {
    let base = Url::parse("https://example.org/a/").unwrap();
    read(text, &base, Instant::now() + time)
}

/// Pieces of pages, whole and torn.
fn piece() -> impl Strategy<Value = String> {
    let tags = [
        "p",
        "div",
        "b",
        "i",
        "a href=x",
        "a href='#'",
        "ul",
        "ol start=9",
        "li",
        "table",
        "tr",
        "td rowspan=3",
        "th colspan=99999",
        "pre",
        "code",
        "blockquote",
        "dl",
        "dt",
        "dd",
        "h1",
        "h3",
        "img src=i alt=w",
        "br",
        "hr",
        "nav",
        "main",
        "article",
        "aside",
        "svg",
        "math",
        "template",
        "select",
        "option",
        "body",
        "html",
        "head",
        "title",
        "script",
        "style",
        "caption",
        "button",
        "details",
        "summary",
        "input type=checkbox checked",
        "base href=//z/",
        "sup",
        "q",
        "div class=share",
        "p hidden",
        "form",
        "frameset",
        "font",
        "noscript",
        "textarea",
    ];
    prop_oneof![
        4 => prop::sample::select(tags.to_vec()).prop_map(|tag| format!("<{tag}>")),
        2 => prop::sample::select(tags.to_vec())
            .prop_map(|tag| format!("</{}>", tag.split(' ').next().unwrap_or_default())),
        3 => "[a-c \n`*_#|>\\\\-]{0,6}",
        1 => "\\PC{0,4}",
        1 => Just("<!--".to_owned()),
        1 => Just("-->".to_owned()),
        1 => Just("<".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_soup_is_read(pieces in prop::collection::vec(piece(), 0..60)) {
        let page = pieces.concat();
        let patience = Duration::from_secs(60);
        let article = read_within(&page, patience);
        prop_assert_eq!(article.extent, Extent::Whole);
        prop_assert_eq!(read_within(&page, patience), article);
    }

    #[test]
    fn plain_text_is_all_there(words in prop::collection::vec("[a-zäß漢]{1,8}", 1..40)) {
        let text = words.join(" ");
        let article = read_within(&format!("<p>{text}</p>"), Duration::from_secs(60));
        prop_assert_eq!(article, Read { title: None, text, extent: Extent::Whole });
    }
}

#[test]
fn a_reader_whose_time_is_up_shows_the_beginning() {
    let page = format!("<h1>A</h1>{}", "<p>b".repeat(10_000));
    let late = read_within(&page, Duration::ZERO);
    assert!(
        late.extent == Extent::Beginning && late.text.starts_with("# A"),
        "{}",
        late.text.len()
    );
    assert_eq!(read_within(&page, Duration::from_secs(60)).extent, Extent::Whole);
}

#[test]
fn what_is_marked_is_not_marked_again() {
    let page = "<b>a <strong>b <i>c</i></strong></b> <i>d<em>e</em></i>";
    assert_eq!(read_within(page, Duration::from_secs(60)).text, "**a b *c*** *de*");
}
