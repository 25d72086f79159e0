//! Trapped calls under signals: nothing hangs, and a call that would be begun again is, so that its errno is the native one.

use std::fmt::Write as _;

use brattice_tests::CONFINED;

/// Calls of every kind that is trapped, each with the errno that it has natively or confined, under a timer of half a
/// millisecond whose handler asks for calls to be begun again.
const STORM: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static volatile long heard;
static void hear(int signal) { heard++; }

static int of(int result) { return result < 0 ? errno : 0; }

static int opened(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    close(fd);
    return 0;
}

static int connected(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int outcome = of(connect(fd, (struct sockaddr *)&address, sizeof address));
    close(fd);
    return outcome;
}

int main(int count, char **arguments) {
    struct sigaction action = { .sa_handler = hear, .sa_flags = SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = { { 0, 500 }, { 0, 500 } };
    setitimer(ITIMER_REAL, &timer, NULL);
    chdir(arguments[1]);
    unsigned char seen[10][256] = { 0 };
    for (long round = 0; round < 2000 || heard < 1000; round++) {
        seen[0][opened("f", O_WRONLY | O_CREAT)] = 1;
        seen[1][of(mkdir("d", 0700))] = 1;
        seen[2][of(chmod(".", 0700))] = 1;
        seen[3][of(rename("f", "g"))] = 1;
        seen[4][of(link("g", "h"))] = 1;
        seen[5][of(unlink("g"))] = 1;
        seen[6][of(unlink("h"))] = 1;
        seen[7][of(rmdir("d"))] = 1;
        seen[8][connected("nobody")] = 1;
        seen[9][of(kill(getppid(), 0))] = 1;
    }
    for (int call = 0; call < 10; call++) {
        for (int number = 0; number < 256; number++)
            if (seen[call][number]) printf("%s ", number ? strerrorname_np(number) : "ok");
        printf("\n");
    }
}
"#;

/// What each line of the program says, in the workspace and outside.
const INSIDE: &str = "ok\nok\nok\nok\nok\nok\nok\nok\nENOENT\nok";
const OUTSIDE: &str = "EACCES\nEACCES\nEACCES\nENOENT\nENOENT\nENOENT\nENOENT\nENOENT\nENOENT\nok";

fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_storm_of_signals_changes_no_errno() {
    let world = super::world();
    world.file("storm.c", STORM);
    world.setup("gcc -o storm storm.c && mkdir -p in $OUT/out");
    assert_eq!(trimmed(&world.native("./storm $OUT/out").succeeded().stdout), INSIDE);
    let session = world.session("workspace-write").open();
    let inside = session.run_for(300_000, "./storm in");
    assert_eq!(trimmed(&inside.undenied().text()), INSIDE);
    let outside = session.run_for(300_000, "./storm $OUT/out 2>&1");
    let told: Vec<String> = outside.lines().into_iter().take(10).collect();
    assert_eq!(trimmed(&told.join("\n")), OUTSIDE);
    assert_eq!(outside.outcome().unobserved, Some(0));
    world.finish();
}

#[test]
fn a_hundred_pipelines_of_three_stages_end() {
    let world = super::world();
    let mut script = String::new();
    for number in 0..100 {
        writeln!(
            script,
            "(seq 400 2>/dev/null | tee $TMPDIR/t{number} | {{ sort -rn > $TMPDIR/s{number}; wc -l < $TMPDIR/s{number}; }}) &"
        )
        .unwrap();
    }
    script.push_str("wait\n");
    world.file("pipelines", &script);
    let wanted = "100 400";
    for mode in CONFINED {
        let session = world.session(mode).open();
        let command = "dash pipelines | sort | uniq -c | sed 's/^ *//'";
        session.run_for(300_000, command).undenied().says(wanted);
    }
    world.finish();
}

const GO: &str = r#"
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

func main() {
	var all sync.WaitGroup
	for number := 0; number < 200; number++ {
		all.Add(1)
		go func(number int) {
			defer all.Done()
			path := filepath.Join(os.TempDir(), fmt.Sprint("f", number))
			for round := 0; round < 20; round++ {
				if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
					panic(err)
				}
				if err := os.Rename(path, path+".new"); err != nil {
					panic(err)
				}
				if err := os.Remove(path + ".new"); err != nil {
					panic(err)
				}
			}
		}(number)
	}
	all.Wait()
	said, err := exec.Command("echo", "child").Output()
	fmt.Printf("%s%v\n", said, err)
}
"#;

/// Go's scheduler interrupts its threads by signals all the time.
#[test]
fn go_builds_and_runs_with_its_preemption() {
    let world = super::world();
    world.file("main.go", GO);
    world.file("go.mod", "module app\n\ngo 1.18\n");
    let session = world.session("workspace-write").open();
    let build = "export GOCACHE=$TMPDIR/go GOPATH=$TMPDIR/gopath GOFLAGS=-mod=mod GOTOOLCHAIN=local; go build -o app . && ./app";
    session.run_for(500_000, build).undenied().says("child\n<nil>");
    world.finish();
}
