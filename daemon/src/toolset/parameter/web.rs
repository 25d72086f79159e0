//! Parameters of the tool that fetches pages.

use super::{Parameter, ParameterKind};

/// Fewest pages of a call.
pub(in crate::toolset) const LEAST_URLS: usize = 1;

/// Most pages of a call.
pub(in crate::toolset) const MOST_URLS: usize = 10;

/// The pages.
pub(in crate::toolset) const URLS: Parameter = Parameter::optional(
    "urls",
    ParameterKind::Texts { least: LEAST_URLS, most: MOST_URLS },
    "The pages, 1 to 10 absolute URLs that begin with http:// or https://.",
);
