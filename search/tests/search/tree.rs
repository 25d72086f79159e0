//! A throw-away tree, and queries on it in few words.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use brattice_search::{
    Cancel, Found, GlobQuery, GrepQuery, Ignored, LetterCase, Listed, Output, QueryError, Span,
    Syntax, UserRules,
};

/// A folder that is removed with its value.
pub(crate) struct Tree(PathBuf);

impl Tree {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().canonicalize().unwrap();
        let path = base.join(format!("brattice-search-{}-{count}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Tree(path)
    }

    /// A tree of files with their content.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let tree = Tree::new();
        files.iter().for_each(|(path, content)| tree.write(path, content.as_bytes()));
        tree
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        if relative.is_empty() { self.0.clone() } else { self.0.join(relative) }
    }

    /// Writes a file, and makes the folders above it.
    pub(crate) fn write(&self, relative: &str, content: &[u8]) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, relative: &str, to: impl AsRef<Path>) {
        symlink(to, self.path(relative)).unwrap();
    }

    /// Runs a line of shell in the tree, and gives what it prints.
    pub(crate) fn run(&self, line: &str) -> String {
        let output = Command::new("bash")
            .args(["-ec", line])
            .current_dir(&self.0)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A query for a pattern everywhere, in which tests change what they are about.
    pub(crate) fn query(&self, pattern: &str) -> GrepQuery {
        GrepQuery {
            root: self.path(""),
            pattern: pattern.to_owned(),
            syntax: Syntax::Regex,
            letter_case: LetterCase::Sensitive,
            span: Span::Line,
            glob: None,
            ignored: Ignored::Skip,
            user_rules: UserRules::Leave,
            output: Output::Content { before: 0, after: 0 },
            max_results: 1000,
            max_bytes: 1_000_000,
        }
    }

    pub(crate) fn grep(&self, query: &GrepQuery) -> Found {
        brattice_search::grep(query, &Cancel::new()).unwrap()
    }

    /// Matching lines below a folder as `path:line:text`, paths from the tree's top, with `-` for what is context.
    pub(crate) fn lines(&self, query: &GrepQuery) -> Vec<String> {
        let found = self.grep(query);
        let of_file = |file: &brattice_search::FileHits| {
            let path = self.shown(&file.path);
            let line = |line: &brattice_search::Line| {
                let sign = match line.kind {
                    brattice_search::LineKind::Match => ':',
                    brattice_search::LineKind::Continued => '+',
                    brattice_search::LineKind::Context => '-',
                };
                format!("{path}{sign}{}{sign}{}", line.number, line.text)
            };
            file.lines.iter().map(line).collect::<Vec<_>>()
        };
        found.files.iter().flat_map(of_file).collect()
    }

    /// The files that hold a pattern, below a folder.
    pub(crate) fn files_with(&self, pattern: &str, folder: &str, ignored: Ignored) -> Vec<String> {
        let query = GrepQuery {
            root: self.path(folder),
            ignored,
            output: Output::Files,
            ..self.query(pattern)
        };
        self.grep(&query).files.iter().map(|file| self.shown(&file.path)).collect()
    }

    pub(crate) fn glob_query(&self, pattern: &str) -> GlobQuery {
        GlobQuery {
            root: self.path(""),
            pattern: pattern.to_owned(),
            ignored: Ignored::Skip,
            user_rules: UserRules::Leave,
            max_results: 1000,
        }
    }

    pub(crate) fn list(&self, query: &GlobQuery) -> Result<Listed, QueryError> {
        brattice_search::glob(query, &Cancel::new())
    }

    /// The files that a glob matches, by name.
    pub(crate) fn glob(&self, pattern: &str) -> Vec<String> {
        self.glob_in("", pattern, Ignored::Skip)
    }

    pub(crate) fn glob_in(&self, folder: &str, pattern: &str, ignored: Ignored) -> Vec<String> {
        let query = GlobQuery { root: self.path(folder), ignored, ..self.glob_query(pattern) };
        let mut files = self.list(&query).unwrap().files;
        files.sort();
        files.iter().map(|path| self.shown(path)).collect()
    }

    /// A path from the tree's top.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}
