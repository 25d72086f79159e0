//! `structuredContent` of `web_fetch`.

use serde::{Deserialize, Serialize};

/// The pages of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagesFetched {
    /// Each URL, in the order of the call.
    pub pages: Vec<PageFetched>,
}

/// What came of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFetched {
    /// The URL as it was asked for.
    pub url: String,
    /// Where the page was found, after redirects; none where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The status of the answer; null where there was none.
    pub status: Option<u16>,
    /// The answer's `Content-Type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The charset that its text was decoded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Bytes of its body that were read, no longer compressed; null where there is no page.
    pub bytes: Option<u64>,
    /// Whether part of the page is missing from the text.
    pub truncated: bool,
    /// Whether it was fetched before and kept.
    pub cached: bool,
    /// Another host to which the answer leads, and which was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// Why there is no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
