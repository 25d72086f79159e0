//! The folders of each preset, with what is kept in each.

use super::{Preset, PresetFolder};

/// Where a folder of a preset is: below what the first of these variables says that is an absolute path, else below the
/// fallback.
struct Row {
    /// A variable, and what is below it.
    variables: &'static [(&'static str, &'static str)],
    /// What it is below the home folder otherwise.
    fallback: &'static str,
    /// What the tool keeps there.
    reason: &'static str,
}

const fn row(
    variables: &'static [(&'static str, &'static str)],
    fallback: &'static str,
    reason: &'static str,
) -> Row {
    Row { variables, fallback, reason }
}

const CARGO: &[Row] = &[
    row(&[("CARGO_HOME", "registry")], ".cargo/registry", "index and sources of packages"),
    row(&[("CARGO_HOME", "git")], ".cargo/git", "clones of packages that come from git"),
];

const NPM: &[Row] = &[
    row(
        &[("npm_config_cache", "_cacache"), ("NPM_CONFIG_CACHE", "_cacache")],
        ".npm/_cacache",
        "downloaded packages",
    ),
    row(
        &[("npm_config_cache", "_logs"), ("NPM_CONFIG_CACHE", "_logs")],
        ".npm/_logs",
        "logs of each run",
    ),
];

const PIP: &[Row] = &[row(
    &[("PIP_CACHE_DIR", ""), ("XDG_CACHE_HOME", "pip")],
    ".cache/pip",
    "downloaded and built packages",
)];

const UV: &[Row] = &[row(
    &[("UV_CACHE_DIR", ""), ("XDG_CACHE_HOME", "uv")],
    ".cache/uv",
    "downloaded and built packages",
)];

const GO: &[Row] = &[
    row(&[("GOCACHE", ""), ("XDG_CACHE_HOME", "go-build")], ".cache/go-build", "compiled packages"),
    row(&[("GOMODCACHE", ""), ("GOPATH", "pkg/mod")], "go/pkg/mod", "sources of modules"),
    row(&[("GOPATH", "pkg/sumdb")], "go/pkg/sumdb", "what is known of modules' checksums"),
];

const GRADLE: &[Row] = &[
    row(&[("GRADLE_USER_HOME", "caches")], ".gradle/caches", "downloaded and built artifacts"),
    row(&[("GRADLE_USER_HOME", "daemon")], ".gradle/daemon", "registry and logs of build daemons"),
    row(&[("GRADLE_USER_HOME", "native")], ".gradle/native", "native libraries of Gradle itself"),
    row(
        &[("GRADLE_USER_HOME", "wrapper")],
        ".gradle/wrapper",
        "distributions that wrappers download",
    ),
    row(&[("GRADLE_USER_HOME", "workers")], ".gradle/workers", "scratch of worker processes"),
];

const CCACHE: &[Row] = &[row(
    &[("CCACHE_DIR", ""), ("XDG_CACHE_HOME", "ccache")],
    ".cache/ccache",
    "compiled objects",
)];

const BAZEL: &[Row] = &[
    row(
        &[("TEST_TMPDIR", ""), ("XDG_CACHE_HOME", "bazel")],
        ".cache/bazel",
        "output bases and repositories",
    ),
    row(
        &[("BAZELISK_HOME", ""), ("XDG_CACHE_HOME", "bazelisk")],
        ".cache/bazelisk",
        "downloaded versions of Bazel",
    ),
];

/// The folders of a preset for a user with this home and these variables.
pub fn folders(
    preset: Preset,
    home: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<PresetFolder> {
    let rows = match preset {
        Preset::Cargo => CARGO,
        Preset::Npm => NPM,
        Preset::Pip => PIP,
        Preset::Uv => UV,
        Preset::Go => GO,
        Preset::Gradle => GRADLE,
        Preset::Ccache => CCACHE,
        Preset::Bazel => BAZEL,
    };
    rows.iter()
        .map(|Row { variables, fallback, reason }| {
            let named = variables.iter().find_map(|(name, below)| {
                Some(joined(&variable(name).filter(|value| value.starts_with('/'))?, below))
            });
            PresetFolder { path: named.unwrap_or_else(|| joined(home, fallback)), reason }
        })
        .collect()
}

fn joined(base: &str, below: &str) -> String {
    let base = base.trim_end_matches('/');
    match below {
        "" if base.is_empty() => "/".to_owned(),
        "" => base.to_owned(),
        below => format!("{base}/{below}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    fn paths(preset: Preset, variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        folders(preset, "/home/a", variable).into_iter().map(|folder| folder.path).collect()
    }

    #[test]
    fn without_variables_the_folders_are_the_tools_defaults() {
        assert_eq!(paths(Preset::Cargo, &[]), ["/home/a/.cargo/registry", "/home/a/.cargo/git"]);
        assert_eq!(
            paths(Preset::Go, &[]),
            ["/home/a/.cache/go-build", "/home/a/go/pkg/mod", "/home/a/go/pkg/sumdb"]
        );
        assert_eq!(paths(Preset::Pip, &[]), ["/home/a/.cache/pip"]);
    }

    #[test]
    fn a_tools_own_variable_comes_first_and_a_relative_one_counts_as_none() {
        assert_eq!(
            paths(Preset::Cargo, &[("CARGO_HOME", "/srv/cargo/")]),
            ["/srv/cargo/registry", "/srv/cargo/git"]
        );
        let both = [("XDG_CACHE_HOME", "/x"), ("UV_CACHE_DIR", "/uv")];
        assert_eq!(paths(Preset::Uv, &both), ["/uv"]);
        assert_eq!(paths(Preset::Uv, &both[..1]), ["/x/uv"]);
        assert_eq!(paths(Preset::Uv, &[("UV_CACHE_DIR", "cache")]), ["/home/a/.cache/uv"]);
    }

    #[test]
    fn every_preset_has_folders_and_a_reason_for_each() {
        for preset in Preset::NAMED {
            let found = folders(*preset, "/home/a", |_| None);
            assert!(!found.is_empty(), "{preset}");
            for PresetFolder { path, reason } in found {
                assert!(path.starts_with("/home/a/") && !reason.is_empty(), "{preset} {path}");
            }
        }
    }
}
