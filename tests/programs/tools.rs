//! make and sqlite3.

#[test]
fn make_builds_in_parallel() {
    let world = super::world();
    world.setup("for i in $(seq 24); do echo \"int f$i(void) { return $i; }\" > f$i.c; done");
    world.file(
        "main.c",
        "#include <stdio.h>\nint f1(void), f24(void);\nint main(void) { printf(\"%d\\n\", f1() + f24()); return 0; }\n",
    );
    world.file(
        "Makefile",
        "OBJECTS := main.o $(patsubst %.c,%.o,$(wildcard f*.c))\napp: $(OBJECTS)\n\tcc -o $@ $^\n",
    );
    let session = world.session("workspace-write").open();
    session.run_for(300_000, "make -s -j4 && ./app").undenied().says("25");
    world.finish();
}

#[test]
fn sqlite_keeps_a_database() {
    let world = super::world();
    let session = world.session("workspace-write").open();
    let script = "pragma journal_mode=wal; create table t(n); with recursive c(n) as (select 1 union all select n+1 from c where n<1000) \
                  insert into t select n from c; create index i on t(n); vacuum; select sum(n) from t; pragma integrity_check;";
    session.run(&format!("sqlite3 db '{script}'")).undenied().says("wal\n500500\nok");
    session.run("(for i in 1 2 3; do sqlite3 -cmd '.timeout 60000' db 'insert into t values(0)' & done; wait); sqlite3 db 'select count(*) from t'").undenied().says("1003");
    world
        .session("read-only")
        .open()
        .run("sqlite3 db 'insert into t values(1)'")
        .exits(8)
        .holds("readonly");
    world.finish();
}
