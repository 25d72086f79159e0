//! `cargo build` and `cargo test` of a crate with dependencies and a build script.

use std::env;
use std::path::{Path, PathBuf};

use brattice_tests::World;
use serde_json::json;

/// The folder of the cargo that builds these tests.
fn toolchain() -> PathBuf {
    let given = env::var_os("CARGO").map(PathBuf::from);
    let found = env::var_os("PATH")
        .into_iter()
        .flat_map(|path| {
            env::split_paths(&path).map(|folder| folder.join("cargo")).collect::<Vec<_>>()
        })
        .find(|cargo| cargo.is_file());
    let cargo = given.or(found).expect("cargo is there");
    cargo.parent().unwrap().to_owned()
}

fn crate_in(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nitoa = \"1\"\nserde_json = \"1\"\n",
    );
    write(
        "build.rs",
        "fn main() { std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/made.rs\", \"const MADE: u32 = 42;\").unwrap(); }\n",
    );
    write(
        "src/main.rs",
        "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n\
         fn text() -> String { serde_json::json!({\"made\": itoa::Buffer::new().format(MADE)}).to_string() }\n\
         fn main() { println!(\"{}\", text()); }\n\
         #[test]\nfn it_works() { assert_eq!(text(), r#\"{\"made\":\"42\"}\"#); }\n",
    );
}

#[test]
fn cargo_builds_and_tests_a_crate_with_dependencies() {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", toolchain().display());
    let world = super::builder().variable("PATH", &path).start();
    crate_in(&world.ws());
    world.setup("mkdir $HOME/.cargo && cargo fetch -q");
    let session = world
        .session("workspace-write")
        .with("writable", json!([world.home().join(".cargo")]))
        .open();
    session
        .run_for(600_000, "cargo build -q && ./target/debug/app")
        .undenied()
        .says(r#"{"made":"42"}"#);
    session.run_for(600_000, "cargo test -q 2>&1").undenied().holds("test result: ok. 1 passed");
    world.finish();
}

#[test]
fn b003_cargo_builds_with_a_home_that_it_may_only_read() {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", toolchain().display());
    let world = World::builder().variable("PATH", &path).start();
    world.setup(
        "mkdir -p hello/src && printf '[package]\\nname = \"hello\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > hello/Cargo.toml && \
         echo 'fn main() { println!(\"hi from hello\"); }' > hello/src/main.rs",
    );
    let session = world.session("workspace-write").open();
    session
        .run_for(600_000, "cd hello && cargo build --offline -q && ./target/debug/hello")
        .undenied()
        .says("hi from hello");
    world.finish();
}
