#!/usr/bin/env bash
# requirements.sh: the programs that the tests run, besides Rust. On Debian, root has what is missing installed; anybody else
# is told what that is, and how it is installed, and the exit status is 1.
set -euo pipefail

# The path that the tests give to a daemon: what they run must be found there.
readonly system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH=$system_path

missing=()

# need PACKAGE COMMAND...: the package, where the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 </dev/null || missing+=("$package")
}

for pair in \
    bash:bash script:bsdutils dash:dash gcc:gcc git:git groff:groff-base make:make mount:mount useradd:passwd ps:procps pkill:procps \
    python3:python3 sqlite3:sqlite3 strace:strace tmux:tmux unshare:util-linux nsenter:util-linux setpriv:util-linux \
    node:nodejs npm:npm go:golang-go javac:default-jdk-headless; do
    need "${pair#*:}" type -P "${pair%%:*}"
done
need python3-venv python3 -c 'import ensurepip'
need libc6-dev gcc -fsyntax-only -include stdio.h -x c /dev/null
need ca-certificates test -s /etc/ssl/certs/ca-certificates.crt

if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort --unique)
if [ "$(id -u)" -ne 0 ] || ! type -P apt-get >/dev/null; then
    printf 'The tests run programs that are not installed. On Debian they come by:\n  sudo apt-get install --no-install-recommends %s\n' \
        "${missing[*]}" >&2
    exit 1
fi
printf 'installing: %s\n' "${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
