#!/usr/bin/env bash
# Builds the image of Dockerfile without a registry and without a container engine, and runs the daemon in it.
#
# Not part of the default test run: needs root, debootstrap and buildah (apt-get install buildah debootstrap), Rust, a
# Debian mirror (DEBIAN_MIRROR, else the machine's own) and some 6 GB in TMPDIR. The base images are made with debootstrap;
# the Rust toolchain and the crates' downloads are those of the machine. Ends with `image: ok`.
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly suite=bookworm
own_mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sort -u | head -n 1)
readonly mirror=${DEBIAN_MIRROR:-$own_mirror}

for program in buildah debootstrap cargo rustc; do
    type -P "$program" >/dev/null || { printf 'check.sh: %s is not installed\n' "$program" >&2; exit 1; }
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/brattice-image.XXXXXX")

# A storage of its own: nothing of the machine's images is used or left changed.
b() {
    buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs "$@"
}

clean_up() {
    b umount --all >/dev/null 2>&1 || true
    b rm --all >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    printf 'image: %s\n' "$*" >&2
    exit 1
}

expect() {
    local what=$1 wanted=$2 got=$3
    [ "$got" = "$wanted" ] || fail "$what: wanted '$wanted', got '$got'"
    printf 'image: %s: %s\n' "$what" "$got"
}

printf '== base images\n'
debootstrap --variant=minbase --include=ca-certificates "$suite" "$scratch/rootfs" "$mirror" >"$scratch/debootstrap.log" ||
    { tail -n 20 "$scratch/debootstrap.log" >&2; fail 'debootstrap failed'; }

container=$(b from scratch)
b add "$container" "$scratch/rootfs" / >/dev/null
b config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd /bin/bash "$container"
b commit --rm "$container" localhost/base >/dev/null
rm -rf "$scratch/rootfs"

cargo fetch --locked
container=$(b from localhost/base)
b run --isolation chroot "$container" -- sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null'
toolchain=$(rustc --print sysroot)
b copy "$container" "$toolchain/bin" /usr/local/rust/bin >/dev/null
b copy "$container" "$toolchain/lib" /usr/local/rust/lib >/dev/null
for part in index cache; do
    b copy "$container" "${CARGO_HOME:-$HOME/.cargo}/registry/$part" "/usr/local/cargo/registry/$part" >/dev/null
done
b config --env PATH=/usr/local/rust/bin:/usr/bin:/bin --env CARGO_HOME=/usr/local/cargo --env CARGO_NET_OFFLINE=true "$container"
b commit --rm "$container" localhost/rust >/dev/null

printf '== image\n'
b build --isolation chroot --format docker --build-arg BUILD_IMAGE=localhost/rust --build-arg RUN_IMAGE=localhost/base \
    --pull-never --tag localhost/brattice --file Dockerfile .

printf '== checks\n'
config() {
    b inspect --type image --format "{{$1}}" localhost/brattice
}
expect 'user' brattice "$(config .Docker.Config.User)"
expect 'volumes' 'map[/run/brattice:{} /var/lib/brattice:{}]' "$(config .Docker.Config.Volumes)"
expect 'entry point' '[/usr/bin/tini -- /usr/local/bin/bratticed --allow-root]' "$(config .Docker.Config.Entrypoint)"

container=$(b from --pull-never localhost/brattice)
inside() {
    b run --isolation chroot "$container" -- bash -euc "$1"
}
expect 'uid' 10001 "$(inside 'id -u')"
expect 'sockets folder' '700 brattice' "$(inside 'stat -c "%a %U" /run/brattice')"
expect 'build tools' none "$(inside 'type -P cargo gcc || echo none')"

# One shell starts the daemon as the entry point does, waits until it serves, and uses it.
printf '%s\n' "$(inside '
/usr/bin/tini -- /usr/local/bin/bratticed --allow-root >/tmp/ready 2>/tmp/log &
daemon=$!
for _ in $(seq 100); do grep -q READY /tmp/ready && break; sleep 0.1; done
grep -q READY /tmp/ready || { cat /tmp/log; exit 1; }
brattice --no-start doctor || true
brattice --no-start run --workspace /workspace -- "echo ran >result; cat result; echo x >/home/brattice/nope" 2>&1 || status=$?
printf "status %s\n" "${status:-0}"
if test -e /home/brattice/nope; then printf "written outside\n"; fi
stat -c "%a %n" /run/brattice/brattice.sock
kill -TERM "$daemon"
wait "$daemon" || true
if brattice --no-start daemon status >/dev/null 2>&1; then printf "still serving\n"; fi
')" | tee "$scratch/inside.log"

grep -qx ran "$scratch/inside.log" || fail 'the command did not run'
grep -q 'Permission denied' "$scratch/inside.log" || fail 'the write outside was not refused'
grep -qx 'status 1' "$scratch/inside.log" || fail 'the exit status is not the command'"'"'s'
grep -qx '600 /run/brattice/brattice.sock' "$scratch/inside.log" || fail 'the socket is not private'
if grep -qE '^(written outside|still serving)$' "$scratch/inside.log"; then
    fail 'see above'
fi
printf 'image: ok\n'
