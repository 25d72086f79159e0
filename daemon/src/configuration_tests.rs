//! Which files are found, and each way in which one cannot be used.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use brattice_policy::{Limits, Mode, Network};

use super::*;
use crate::fault::chain;
use crate::session::testing::Scratch;

fn find(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<UsersFile>, String> {
    let environment =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
    let found = ConfigurationFiles::find(flag.map(Path::new), environment, "/home/a");
    found.map(|files| files.users).map_err(|error| error.to_string())
}

/// The files of a test, so that no machine's own counts.
fn files(scratch: &Scratch) -> ConfigurationFiles {
    ConfigurationFiles {
        operators: scratch.path("operator.toml"),
        operator: rustix::process::geteuid().as_raw(),
        users: Some(UsersFile::Default(scratch.path("user.toml"))),
        home: "/home/a".to_owned(),
    }
}

fn fault(files: &ConfigurationFiles) -> String {
    chain(&files.read().unwrap_err())
}

#[test]
fn the_flag_comes_before_the_variable_and_both_before_the_default() {
    let variables = [(CONFIG, "/v.toml"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/home/a")];
    let named = |path: &str| Ok(Some(UsersFile::Named(path.into())));
    let default = |path: &str| Ok(Some(UsersFile::Default(path.into())));
    assert_eq!(find(Some("/f.toml"), &variables), named("/f.toml"));
    let here = std::env::current_dir().unwrap().join("f.toml");
    assert_eq!(find(Some("f.toml"), &variables), named(here.to_str().unwrap()));
    assert_eq!(find(None, &variables), named("/v.toml"));
    assert_eq!(find(None, &variables[1..]), default("/x/brattice/config.toml"));
    assert_eq!(find(None, &variables[2..]), default("/home/a/.config/brattice/config.toml"));
    assert_eq!(find(None, &[(CONFIG, ""), ("XDG_CONFIG_HOME", "x")]), Ok(None));
    assert_eq!(
        find(None, &[(CONFIG, "v.toml")]),
        Err("BRATTICE_CONFIG must be an absolute path, not v.toml".to_owned())
    );
}

#[test]
fn without_files_the_defaults_hold() {
    let scratch = Scratch::new();
    let none = Loaded { configuration: Configuration::default(), events: Vec::new() };
    assert_eq!(files(&scratch).read().unwrap(), none);
    let nowhere = ConfigurationFiles { users: None, ..files(&scratch) };
    assert_eq!(nowhere.read().unwrap(), none);
}

#[test]
fn the_operators_file_is_read_and_then_the_users() {
    let scratch = Scratch::new();
    let operators = "[ceiling]\nmax_mode = \"workspace-write\"\nmax_sessions = 2\n\
                     [session]\nnetwork = \"none\"\n[limits]\nmax_tasks = 5\n";
    let users = "[session]\nmode = \"danger-full-access\"\ntoolset = \"dsh\"\nwritable = [\"~/x\"]\n\
                 [limits]\nmax_tasks = 6\n";
    let paths = [scratch.file("operator.toml", operators), scratch.file("user.toml", users)];
    let session = config::SessionDefaults {
        mode: Mode::WorkspaceWrite,
        toolset: ToolsetName::Dsh,
        network: Network::None,
        writable: vec!["/home/a/x".to_owned()],
        ..config::SessionDefaults::default()
    };
    let limits = Limits { max_sessions: 2, max_tasks: 6, ..Limits::default() };
    let [operators, users] = [operators, users].map(|text| Digest::of(text.as_bytes()));
    let [first, second] = paths.map(|path| path.display().to_string());
    let read = files(&scratch).read().unwrap();
    let Configuration { ceiling, session: found, limits: bounds, .. } = read.configuration;
    assert_eq!(ceiling.max_mode, Some(Mode::WorkspaceWrite));
    assert_eq!((found, bounds), (session, limits));
    assert_eq!(
        read.events,
        [
            Event::ConfigurationLoaded { path: first, sha256: operators },
            Event::ConfigurationLoaded { path: second, sha256: users },
        ]
    );
}

#[test]
fn a_fault_is_told_with_its_file_and_its_place() {
    let scratch = Scratch::new();
    let path = scratch.file("user.toml", "[limits]\nmax_task = 5\n");
    assert_eq!(
        fault(&files(&scratch)),
        format!(
            "the configuration {} is faulty: line 2, column 1: unknown key \"max_task\" in [limits]: expected one of \
             timeout, max_timeout, kill_grace, memory, pids, cpu, open_files, max_tasks, spool, state",
            path.display()
        )
    );
    scratch.file("user.toml", "[ceiling]\nmax_sessions = 5\n");
    assert_eq!(
        fault(&files(&scratch)),
        format!(
            "the configuration {} is faulty: line 1, column 1: [ceiling] belongs into the operator's file, \
             /etc/brattice/config.toml",
            path.display()
        )
    );
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let scratch = Scratch::new();
    let path = scratch.path("gone.toml");
    let named =
        ConfigurationFiles { users: Some(UsersFile::Named(path.clone())), ..files(&scratch) };
    assert_eq!(
        fault(&named),
        format!(
            "cannot read the configuration {}: No such file or directory (os error 2)",
            path.display()
        )
    );
}

#[test]
fn what_cannot_be_used_is_refused_and_never_passed_over() {
    let scratch = Scratch::new();
    let path = scratch.file("user.toml", "");
    let told = || fault(&files(&scratch)).replace(path.to_str().unwrap(), "F");

    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        told(),
        "everybody may write to the configuration F (mode 0666); run chmod o-w on it"
    );
    std::fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
    files(&scratch).read().unwrap();

    std::fs::write(&path, [0xff]).unwrap();
    assert_eq!(told(), "the configuration F is not UTF-8");
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert_eq!(told(), "the configuration F is longer than 1048576 bytes");
    std::fs::write(&path, vec![b'#'; 1 << 20]).unwrap();
    files(&scratch).read().unwrap();

    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(told(), "the configuration F is no regular file");
    std::fs::remove_dir(&path).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
    assert_eq!(told(), "the configuration F is no regular file");
}

#[test]
fn the_operators_file_and_its_folder_are_only_the_operators_to_change() {
    let scratch = Scratch::new();
    let path = scratch.file("operator.toml", "");
    let told = |files: &ConfigurationFiles, path: &Path| {
        fault(files).replace(&format!(" {} ", path.display()), " F ")
    };
    let refusal = |found: &str| {
        format!(
            "the operator's configuration F is not only root's to change ({found}); run chown root and chmod go-w on it"
        )
    };
    let set =
        |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let (uid, folder) = (rustix::process::geteuid().as_raw(), path.parent().unwrap());
    for mode in [0o664, 0o646] {
        set(&path, mode);
        assert_eq!(told(&files(&scratch), &path), refusal(&format!("owner {uid}, mode 0{mode:o}")));
    }
    set(&path, 0o644);
    files(&scratch).read().unwrap();
    let others = ConfigurationFiles { operator: uid + 1, ..files(&scratch) };
    assert_eq!(told(&others, &path), refusal(&format!("owner {uid}, mode 0644")));
    set(folder, 0o775);
    assert_eq!(told(&files(&scratch), folder), refusal(&format!("owner {uid}, mode 0775")));
}

#[test]
fn every_path_to_a_file_is_the_daemons_own() {
    let scratch = Scratch::new();
    let target = scratch.file("target.toml", "");
    std::fs::create_dir(scratch.path("real")).unwrap();
    symlink(scratch.path("real"), scratch.path("alias")).unwrap();
    symlink(&target, scratch.path("real/config.toml")).unwrap();
    let named = scratch.path("alias/config.toml");
    let users = Some(UsersFile::Default(named.clone()));
    assert_eq!(
        ConfigurationFiles { users, ..files(&scratch) }.paths(),
        [scratch.path("operator.toml"), named, scratch.path("real/config.toml"), target]
    );
    let missing = scratch.path("alias/none/config.toml");
    let users = Some(UsersFile::Named(missing.clone()));
    assert_eq!(
        ConfigurationFiles { users, ..files(&scratch) }.paths(),
        [scratch.path("operator.toml"), missing, scratch.path("real/none/config.toml")]
    );
}
