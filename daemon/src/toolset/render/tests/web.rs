//! Pages as they are told.

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use brattice_web::{Cut, Note, Page};

use super::*;
use crate::toolset::Toolset;

fn page(url: &str, text: &str, notes: Vec<Note>) -> Fetched {
    let page = Page {
        url: url.to_owned(),
        status: 200,
        media_type: Some("text/html".to_owned()),
        charset: Some("UTF-8".to_owned()),
        title: Some("T".to_owned()),
        bytes: 9,
        text: text.to_owned(),
        notes,
    };
    Fetched { url: url.to_owned(), outcome: Ok(page), source: Source::Web }
}

fn failed(url: &str, fault: PageFault) -> Fetched {
    let outcome = Err(FetchFault::Page(fault));
    Fetched { url: url.to_owned(), outcome, source: Source::Web }
}

fn told(toolset: ToolsetName, fetched: &[Fetched]) -> (String, Vec<PageFetched>, Success) {
    let tools = SessionTools::of(Toolset::of(toolset), &[], &Limits::default());
    let (said, success) = render_fetched(tools, fetched);
    (said.text, said.facts.pages, success)
}

fn hops() -> PageFault {
    PageFault::Hops { most: 10 }
}

#[test]
fn one_page_is_its_text_and_several_have_headings() {
    let one = page("http://a/", "# A", Vec::new());
    assert_eq!(told(ToolsetName::Standard, std::slice::from_ref(&one)).0, "# A");
    let (text, pages, success) = told(
        ToolsetName::Standard,
        &[one, failed("http://b/", hops()), page("http://c/", "C", Vec::new())],
    );
    assert_eq!(
        text,
        "## http://a/\n\n# A\n\n## http://b/\n\n[failed: redirect limit: more than 10 redirects in a row]\n\n\
         ## http://c/\n\nC"
    );
    assert_eq!(success, Success::Some);
    let error = |page: &PageFetched| page.error.clone();
    let limit = Some("redirect limit: more than 10 redirects in a row".to_owned());
    assert_eq!(pages.iter().map(error).collect::<Vec<_>>(), [None, limit, None]);
}

#[test]
fn all_failed_is_a_failure_and_a_redirect_is_none() {
    assert_eq!(told(ToolsetName::Standard, &[failed("u", hops())]).2, Success::None);
    let elsewhere = PageFault::Elsewhere { status: 301, to: "http://b/".to_owned() };
    let (text, pages, success) = told(ToolsetName::Standard, &[failed("http://a/", elsewhere)]);
    assert_eq!(
        (text.as_str(), success),
        (
            "[redirected (301) to another host, which is not followed: to go on, fetch http://b/]",
            Success::Some
        )
    );
    assert_eq!((pages[0].status, pages[0].redirect.as_deref()), (Some(301), Some("http://b/")));
}

#[test]
fn an_error_of_the_server_is_told_with_what_it_said() {
    let fault = PageFault::Status { status: 404, text: "{\"no\": 1}\n".to_owned() };
    let (text, pages, _) = told(ToolsetName::Standard, &[failed("http://a/", fault)]);
    assert_eq!(text, "[failed: the server answered 404 Not Found]\n{\"no\": 1}");
    assert_eq!(pages[0].status, Some(404));
}

#[test]
fn notes_follow_the_text_and_the_share_is_cut_between_characters() {
    let cut = vec![Note::Cut(Cut::Broken)];
    let (text, pages, _) = told(ToolsetName::Standard, &[page("http://a/", "x", cut)]);
    assert_eq!(text, "x\n[truncated: the page broke off; this is what had come]");
    assert!(pages[0].truncated);
    let long = page("http://a/", &format!("x{}", "é".repeat(MOST_BYTES / 2)), Vec::new());
    let (text, pages, _) = told(ToolsetName::Standard, &[long]);
    assert!(text.ends_with("é\n[truncated: 2 bytes of text omitted]"));
    assert!(pages[0].truncated);
}

#[test]
fn the_cap_of_a_toolset_holds() {
    let (text, pages, _) = told(ToolsetName::Glrs, &[page("u", &"x".repeat(30_007), Vec::new())]);
    assert_eq!(text, format!("{}\n[truncated, 7 chars omitted]", "x".repeat(30_000)));
    assert!(pages[0].truncated);
}

#[test]
fn a_page_without_text_is_said_to_have_none() {
    assert_eq!(
        told(ToolsetName::Standard, &[page("u", " \n", Vec::new())]).0,
        "[the page has no text]"
    );
}

/// What stands under the heading of each page.
fn under_headings(text: &str) -> Vec<&str> {
    let whole = text.strip_prefix("## ").unwrap();
    whole.split("\n\n## ").map(|block| block.split_once("\n\n").unwrap().1).collect()
}

#[test]
fn pages_that_fit_are_whole_however_long_one_is() {
    let both = [page("a", &"x".repeat(29_000), Vec::new()), page("b", "short", Vec::new())];
    let (text, pages, _) = told(ToolsetName::Glrs, &both);
    assert_eq!(under_headings(&text), ["x".repeat(29_000).as_str(), "short"]);
    assert!(pages.iter().all(|page| !page.truncated));
    let both =
        [page("a", &"x".repeat(MOST_BYTES - 100), Vec::new()), page("b", "short", Vec::new())];
    let (text, pages, _) = told(ToolsetName::Standard, &both);
    assert_eq!(under_headings(&text)[0].len(), MOST_BYTES - 100);
    assert!(pages.iter().all(|page| !page.truncated));
}

#[test]
fn a_long_page_takes_no_other_page_and_no_failure_from_a_result() {
    let fetched = [
        page("a", &"é".repeat(40_000), vec![Note::Cut(Cut::Broken)]),
        page("b", "short", vec![Note::TextOnly]),
        failed("c", hops()),
        page("d", &"y".repeat(40_000), Vec::new()),
    ];
    let (text, pages, _) = told(ToolsetName::Glrs, &fetched);
    // What is not headings, "short" and the failure, in halves; what is said of a cut is beyond the cap.
    let said = 4 * "## a\n\n".len() + 3 + "[failed: ".len() + hops().to_string().len() + 1;
    let share = (30_000 - said - "short".len()) / 2;
    let omitted = |more: usize| format!("[truncated, {} chars omitted]", 40_000 - share - more);
    let rest = (30_000 - said - "short".len()) % 2;
    assert_eq!(
        under_headings(&text),
        [
            format!("{}\n{}\n{}", "é".repeat(share), omitted(0), Note::Cut(Cut::Broken)),
            format!("short\n{}", Note::TextOnly),
            format!("[failed: {}]", hops()),
            format!("{}\n{}", "y".repeat(share + rest), omitted(rest)),
        ]
    );
    let truncated: Vec<bool> = pages.iter().map(|page| page.truncated).collect();
    assert_eq!(truncated, [true, false, false, true]);
}

#[test]
fn what_is_said_of_a_page_is_beyond_the_cap() {
    let one = page("u", &"x".repeat(30_001), vec![Note::Cut(Cut::Broken)]);
    let (text, pages, _) = told(ToolsetName::Glrs, &[one]);
    let (kept, said) = text.split_at(30_000);
    assert_eq!(kept, "x".repeat(30_000));
    assert_eq!(said, format!("\n[truncated, 1 chars omitted]\n{}", Note::Cut(Cut::Broken)));
    assert!(pages[0].truncated);
}

#[test]
fn urls_and_failures_of_any_length_leave_room_for_pages() {
    let url = "é".repeat(8_000);
    let elsewhere = PageFault::Elsewhere { status: 301, to: "z".repeat(60_000) };
    let mut fetched: Vec<Fetched> = (0..9).map(|_| failed(&url, elsewhere.clone())).collect();
    fetched.push(page(&url, &"x".repeat(300_000), Vec::new()));
    for (toolset, length) in [
        (ToolsetName::Glrs, (|text| text.chars().count()) as fn(&str) -> usize),
        (ToolsetName::Standard, str::len),
    ] {
        let (text, pages, _) = told(toolset, &fetched);
        let most = if toolset == ToolsetName::Glrs { 30_000 } else { MOST_BYTES };
        assert!(length(&text) < most + 1_000, "{}", length(&text));
        let blocks = under_headings(&text);
        assert!(text.starts_with(&format!("## {}…\n\n[redirected (301) ", "é".repeat(2_000))));
        assert!(blocks[..9].iter().all(|block| block.ends_with("zz…]")));
        assert!(blocks[9].starts_with("xxx"), "{}", blocks[9]);
        assert!(pages[9].truncated && !pages[0].truncated);
    }
}

#[test]
fn what_one_does_not_want_is_left_to_the_others() {
    assert_eq!(shares(10, &[]), [0; 0]);
    assert_eq!(shares(10, &[4, 6]), [4, 6]);
    assert_eq!(shares(10, &[9, 1, 9]), [4, 1, 5]);
    assert_eq!(shares(0, &[9, 1]), [0, 0]);
}
