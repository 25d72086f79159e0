# syntax=docker/dockerfile:1
#
# Brattice's daemon and client in an image.
#
#   docker build -t brattice .
#   docker run -d --name brattice -v brattice-run:/run/brattice -v "$PWD":/workspace brattice
#   docker exec brattice brattice run --workspace /workspace -- 'make test'
#
# Another container of the same user reaches the sockets by the volume brattice-run. The daemon lets in its own user only:
# to use the socket from the host, or on a workspace that another user owns, run the container as that user
# (--user "$(id -u):$(id -g)") with folders of that user's in place of the volumes.
#
# What the container needs from its host:
# - Linux 6.2 or newer with `landlock` in its list of security modules (/sys/kernel/security/lsm); 6.12 for all layers.
#   A container has its host's kernel, so that nothing in here can make up for it.
# - A seccomp profile that allows landlock_create_ruleset, landlock_add_rule, landlock_restrict_self, seccomp, prctl,
#   close_range, memfd_create, openat2, pidfd_open and pidfd_send_signal. Docker's and Podman's default profiles do.
# - For the observer, which knows what was denied: process_vm_readv and pidfd_getfd as well. The default profiles allow the
#   first; without the second sockets by path stay closed to commands, and all else is observed.
# - For the namespaces (a private /tmp and /dev/shm, protected and hidden paths, the network `loopback`): unshare, mount, fsopen,
#   fsconfig, fsmount, open_tree, move_mount, mount_setattr and setns. The default profiles allow them to a container with CAP_SYS_ADMIN only, so that a container
#   has none of this as a rule: /tmp is refused to commands, nothing is protected, and a session that asks for deny_read or
#   `loopback` is refused with the reason. A profile of your own (--security-opt seccomp=FILE) that allows these calls brings it
#   back, where the host lets users make user namespaces.
# - No capability, no device, no --privileged; --cap-drop ALL and --security-opt no-new-privileges are fine.
# - /proc as engines mount it.
# `docker exec brattice brattice doctor` says what of this is missing.
#
# The entry point passes --allow-root, which has no effect on the image's own user: whoever writes --user 0 (a workspace
# that belongs to root, an engine that maps root to the caller) has decided already. Commands of a root daemon lose every
# capability but those for file ownership; see SECURITY.md for what that leaves open.

ARG BUILD_IMAGE=rust:1-bookworm
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package brattice-daemon --package brattice-client --package brattice-mcp

FROM ${RUN_IMAGE}
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bash ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --create-home --shell /bin/bash brattice \
    && install -d -o brattice -g brattice -m 0700 /run/brattice /var/lib/brattice \
    && install -d -o brattice -g brattice -m 0755 /workspace
COPY --from=build /source/target/release/brattice /source/target/release/brattice-mcp /source/target/release/bratticed /usr/local/bin/
ENV BRATTICE_SOCKET=/run/brattice/brattice.sock BRATTICE_STATE=/var/lib/brattice
VOLUME ["/run/brattice", "/var/lib/brattice"]
WORKDIR /workspace
USER brattice
# tini is process 1: it passes signals on and reaps what the daemon's sessions leave to it.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/bratticed", "--allow-root"]
