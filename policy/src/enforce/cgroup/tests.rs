//! Against a folder that looks like a cgroup file system, and against the machine's own.

use std::fs;

use super::*;

const MOUNTS: &str = "\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 24 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime shared:9 - cgroup2 cgroup2 rw
";

/// A folder that looks like a cgroup file system, gone with the test.
struct Fake(PathBuf);

impl Fake {
    fn new(name: &str) -> Fake {
        let path =
            std::env::temp_dir().join(format!("brattice-cgroup-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Fake(path.canonicalize().unwrap())
    }

    /// Makes a group of this type; the root has none.
    fn group(&self, name: &str, kind: Option<&str>) -> PathBuf {
        let folder = join(&self.0, Path::new(name));
        fs::create_dir_all(&folder).unwrap();
        let files = [
            ("cgroup.procs", ""),
            ("cgroup.subtree_control", "cpu\n"),
            ("cgroup.controllers", "cpuset cpu pids\n"),
        ];
        for (file, content) in files {
            fs::write(folder.join(file), content).unwrap();
        }
        if let Some(kind) = kind {
            fs::write(folder.join("cgroup.type"), format!("{kind}\n")).unwrap();
        }
        folder
    }

    fn find(&self, own: &str, init: Init) -> Result<Delegation, Unavailable> {
        let mounts = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", self.0.display());
        Delegation::among(&Surroundings { groups: format!("1:cpu:/\n0::{own}\n"), mounts, init })
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn mark(folder: &Path) {
    rustix::fs::setxattr(folder, "user.delegate", b"1", rustix::fs::XattrFlags::empty()).unwrap();
}

#[test]
fn the_own_group_is_found_below_its_mount() {
    let folder = |groups: &str, mounts: &str| own_folder(groups, mounts);
    let found = |path: &str| Ok(PathBuf::from(path));
    assert_eq!(folder("4:memory:/x\n0::/\n", MOUNTS), found("/sys/fs/cgroup/uni fied"));
    assert_eq!(folder("0::/a.slice/b\n", MOUNTS), found("/sys/fs/cgroup/uni fied/a.slice/b"));
    let part = "41 31 0:38 /a.slice /cg rw - cgroup2 cgroup2 rw\n";
    assert_eq!(folder("0::/a.slice/b\n", part), found("/cg/b"));
    let outside = |path: &str| Err(Unavailable::Outside { path: path.into() });
    assert_eq!(folder("0::/b\n", part), outside("/b"));
    assert_eq!(folder("0::/../b\n", MOUNTS), outside("/../b"));
    assert_eq!(folder("4:memory:/x\n", MOUNTS), Err(Unavailable::NotMounted));
    assert_eq!(
        folder("0::/\n", "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"),
        Err(Unavailable::NotMounted)
    );
}

#[test]
fn without_systemd_the_own_group_is_the_daemons() {
    let fake = Fake::new("other");
    let folder = fake.group("", None);
    let root = Delegation { folder: folder.clone(), position: Position::Root, own: folder.clone() };
    assert_eq!(fake.find("/", Init::Other), Ok(root));
    let own = fake.group("box/daemon", Some("domain"));
    let below = Delegation { folder: own.clone(), position: Position::Below, own };
    assert_eq!(fake.find("/box/daemon", Init::Other), Ok(below));
    let folder = fake.group("box", Some("domain"));
    let own = fake.group("box/brattice/daemon", Some("domain"));
    let moved = Delegation { folder, position: Position::Below, own };
    assert_eq!(fake.find("/box/brattice/daemon", Init::Other), Ok(moved));
}

#[test]
fn systemd_says_which_group_was_delegated() {
    let fake = Fake::new("systemd");
    let folder = fake.group("b.service", Some("domain"));
    let refused = |path: &str| Err(Unavailable::NotDelegated { path: fake.0.join(path) });
    assert_eq!(fake.find("/b.service", Init::Systemd), refused("b.service"));
    for own in ["b.service/daemon", "b.service/brattice/daemon", "b.service/other"] {
        fake.group(own, Some("domain"));
        assert_eq!(fake.find(&format!("/{own}"), Init::Systemd), refused(own));
    }
    mark(&folder);
    for own in ["b.service", "b.service/daemon", "b.service/brattice/daemon"] {
        let delegation =
            Delegation { folder: folder.clone(), position: Position::Below, own: fake.0.join(own) };
        assert_eq!(fake.find(&format!("/{own}"), Init::Systemd), Ok(delegation), "{own}");
    }
    // A group below a delegated one is its manager's, whatever its name is; only the agreed one is the daemon's.
    assert_eq!(fake.find("/b.service/other", Init::Systemd), refused("b.service/other"));
}

#[test]
fn a_group_that_cannot_be_used_says_why() {
    let fake = Fake::new("unfit");
    let folder = fake.group("t", Some("threaded"));
    assert_eq!(fake.find("/t", Init::Other), Err(Unavailable::Threaded { path: folder }));
    let gone = Unavailable::NotWritable { path: fake.0.join("gone"), errno: Errno::NOENT };
    assert_eq!(fake.find("/gone", Init::Other), Err(gone.clone()));
    let reason = layer(&Err(gone)).reason.unwrap();
    assert!(reason.contains("/gone cannot be written: ENOENT"), "{reason}");
}

#[test]
fn a_controller_that_commands_lack_is_named_with_what_to_do() {
    use Controller::{Cpu, Memory, Pids};
    let fake = Fake::new("standings");
    fake.group("", None);
    let found = fake.find("/", Init::Other).map(|delegation| delegation.standings());
    let [memory, pids, cpu] = found.clone().unwrap();
    assert!(matches!(memory, (Memory, Standing::Version1 | Standing::Withheld)), "{memory:?}");
    assert_eq!([pids, cpu], [(Pids, Standing::Offered), (Cpu, Standing::Enabled)]);

    let all = Controller::ALL.map(|controller| (controller, Standing::Enabled));
    assert_eq!(layer(&Ok(all)), Layer::on(LayerName::Cgroup));
    let some =
        [(Memory, Standing::Version1), (Pids, Standing::Version1), (Cpu, Standing::Withheld)];
    let told = layer(&Ok(some));
    assert_eq!(told.state, LayerState::Partial);
    assert_eq!(
        told.reason.as_deref(),
        Some(
            "commands have control groups, but without limits on memory, pids (cgroup v1 has it on this machine; boot \
             with systemd.unified_cgroup_hierarchy=1 or cgroup_no_v1=all) and cpu (not offered here; add Delegate=cpu \
             memory pids to the unit); memory is limited for each process where [limits] memory is set"
        )
    );
}

#[test]
fn controllers_of_version_1_are_told_apart() {
    let table = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\nmemory\t0\t31\t1\n";
    assert_eq!(
        ["cpu", "memory", "pids"].map(|name| is_version1(table, name)),
        [true, false, false]
    );
}

/// Whoever runs this, on whatever machine: there is a group, or a reason.
#[test]
fn this_machine_has_a_group_or_a_reason() {
    match Delegation::find() {
        Ok(delegation) => assert!(delegation.own.starts_with(&delegation.folder)),
        Err(unavailable) => assert!(!unavailable.to_string().is_empty()),
    }
}
