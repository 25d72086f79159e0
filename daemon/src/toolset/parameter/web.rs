//! Parameters of the tool that fetches pages.

use super::{Parameter, ParameterKind};

/// The pages.
pub(in crate::toolset) const URLS: Parameter = Parameter::optional(
    "urls",
    ParameterKind::Texts { least: 1, most: 10 },
    "The pages, 1 to 10 absolute URLs that begin with http:// or https://.",
);
