//! The calls of the matrix: every operation on every kind of path, inside and outside of the workspace.

/// One call, made in folders that no other call uses.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its number, which names its folders.
    pub(crate) id: usize,
    /// What is done.
    pub(crate) operation: String,
    /// On what: `ws` or `out`, a slash, and a name of `program.py`.
    pub(crate) path: String,
    /// Where to, for what takes two paths.
    pub(crate) second: Option<String>,
}

/// Kinds of files, as `program.py` makes them.
const NAMES: &[&str] = &[
    "f", "r", "z", "x", "d", "dn", "p", "s", "lf", "ld", "lx", "lo", "lod", "lox", "loop", "h",
    "nx", "f/", "nx/", "d/", "lf/", "ld/", "lx/", "f/x", "nx/x", "u/f", "u/nx", "k/f", "k/nx",
    "t/f", "t/nx", "lod/nx", "d/.", "d/..", "dn/f",
];

/// Those that are moved and linked.
const MOVED: &[&str] = &[
    "f", "d", "dn", "lf", "lo", "lx", "nx", "f/", "d/", "nx/", "u/f", "u/nx", "k/f", "dn/f",
    "dn/nx", "h", "p", "d/..",
];

const OPEN_FLAGS: &[&str] = &[
    "WRONLY",
    "RDWR",
    "ACC3",
    "RDONLY|TRUNC",
    "WRONLY|TRUNC",
    "WRONLY|CREAT",
    "RDONLY|CREAT",
    "WRONLY|CREAT|EXCL",
    "WRONLY|CREAT|TRUNC",
    "WRONLY|APPEND",
    "WRONLY|NOFOLLOW",
    "WRONLY|CREAT|NOFOLLOW",
    "WRONLY|DIRECTORY",
    "RDONLY|CREAT|DIRECTORY",
    "RDWR|TMPFILE",
    "RDONLY|TMPFILE",
    "PATH|RDWR",
    "PATH|WRONLY|CREAT|TRUNC",
    "RDONLY",
];

const ON_ONE: &[&str] = &[
    "creat",
    "truncate",
    "mkdir",
    "rmdir",
    "unlink",
    "mkreg",
    "mkfifo",
    "mksock",
    "symlink",
    "bind",
    "chmod",
    "chown",
    "lchown",
    "utimes",
    "utimes_now",
    "utimes_link",
    "setxattr",
    "lsetxattr",
    "removexattr",
    "fchmod",
    "futimes",
    "fsetxattr",
    "reopen",
    "reopen_trunc",
    "chmod_by_link",
];

const ON_TWO: &[&str] = &["rename", "link", "link_followed", "rename_noreplace", "rename_exchange"];

const SIDES: [&str; 2] = ["ws", "out"];

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let places = |names: &'static [&'static str]| {
        SIDES
            .into_iter()
            .flat_map(move |side| names.iter().map(move |name| format!("{side}/{name}")))
    };
    let opened = OPEN_FLAGS.iter().map(|flags| format!("open {flags}"));
    let operations: Vec<String> =
        opened.chain(ON_ONE.iter().map(|operation| (*operation).to_owned())).collect();
    let single = places(NAMES).flat_map(|path| {
        operations
            .iter()
            .map(move |operation| (operation.clone(), path.clone(), None))
            .collect::<Vec<_>>()
    });
    let double = places(MOVED).flat_map(|path| {
        let pairs = places(MOVED).map(move |second| (path.clone(), second));
        pairs.flat_map(|(path, second)| {
            ON_TWO
                .iter()
                .map(move |operation| ((*operation).to_owned(), path.clone(), Some(second.clone())))
                .collect::<Vec<_>>()
        })
    });
    single
        // Whether anybody reads a FIFO cannot be known from here: such an opening is refused and not recorded.
        .filter(|(operation, path, _)| !(operation == "reopen" && path.ends_with("/p")))
        .chain(double)
        .enumerate()
        .map(|(id, (operation, path, second))| Case { id, operation, path, second })
        .collect()
}
