//! Shared memory and semaphores, which process pools need, in every mode.

use brattice_tests::{CONFINED, World};

const POOL: &str = r#"import multiprocessing as mp
def sq(x): return x * x
if __name__ == "__main__":
    mp.Semaphore().acquire()
    with mp.get_context("spawn").Pool(2) as p: print(sum(p.map(sq, range(10))))
"#;

fn semaphores() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").unwrap().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("sem.mp-"))
        .collect()
}

#[test]
fn b021_process_pools_and_locks_work_in_every_mode() {
    let world = World::new();
    world.file("pool.py", POOL);
    for mode in CONFINED {
        let session = world.session(mode).open();
        session.run("PYTHONDONTWRITEBYTECODE=1 python3 pool.py").exits(0).says("285");
        session
            .run("python3 -c 'import multiprocessing as m; m.Lock(); print(1)'")
            .exits(0)
            .says("1");
        let shared = "from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=64); m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()";
        // Python's own tracker of resources ends a moment after its program.
        let ended = "while pgrep -s 0 python3 >/dev/null; do sleep 0.05; done";
        session.run(&format!("python3 -c '{shared}'; {ended}")).exits(0).says("7");
    }
    assert_eq!(semaphores(), Vec::<String>::new(), "no semaphore stays in the host's /dev/shm");
    world.finish();
}
