//! What the declaration of `web_fetch` says.

use crate::toolset::tool::SessionTools;
use crate::web::{AT_ONCE, PAGE_SECONDS};

pub(super) fn web_fetch(tools: SessionTools<'_>) -> String {
    let refused = tools.toolset().error("…");
    format!(
        "\
Fetches 1 to 10 web pages, up to {AT_ONCE} at once, and gives the main content of each as Markdown, with absolute links. JSON and plain \
text come as they are; PDFs, images and archives are named with their type and size, not shown. One page: its text. Several: each under \
a heading `## URL`, in the order of the call, and of a long result each has its share. A page that failed is a line `[failed: REASON]`; \
where all failed, the result is `{refused}`. Pages are kept for 15 minutes and not fetched again meanwhile.

Each page has {PAGE_SECONDS} s and 5 MiB, counted after decompression. `[truncated: …]` says that the end is missing and why. Redirects \
are followed on the same host; one to another host is told with its address, to be fetched by another call. Private, loopback and \
link-local addresses are refused unless the configuration's `web_allow` names their host and port. Scripts are not run, nothing is \
logged in to, and no cookies are kept."
    )
}
