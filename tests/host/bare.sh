#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
#     bare.sh [--user] COMMAND...
#
# Runs COMMAND as on a host that has nothing but a new Debian with git and make, and what `make
# deps` installs: no hugetlbfs mounted, no huge pages reserved, an empty /run, a /dev/shm of 64
# MB, a PATH of these packages only. With --user the command is run by a user without rights that
# may use sudo. The number of huge pages is the host's own again afterwards: nothing else that
# needs them may run meanwhile. Needs root.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ "$(id -u)" -eq 0 ] || { echo "bare.sh: needs root" >&2; exit 1; }
as_user=
if [ "${1:-}" = --user ]; then
  command -v sudo >/dev/null || { echo "bare.sh: skipped, this host has no sudo"; exit 0; }
  as_user=1
  shift
fi
pages=/proc/sys/vm/nr_hugepages
before=$(cat "$pages")
work=$(mktemp -d)
trap 'echo "$before" >"$pages"; rm -rf "$work"' EXIT
python3 "$here/base_path.py" "$work/bin"
chmod -R a+rX "$work"
echo 0 >"$pages"

# In a mount namespace of its own: the host's mounts stay as they are.
AS_USER=$as_user WORK=$work unshare --mount bash -ec '
  mount --make-rprivate /
  for at in $(awk "\$3 == \"hugetlbfs\" {print \$2}" /proc/mounts); do umount -l "$at"; done
  mount -t tmpfs -o mode=755 none /run
  mount -t tmpfs -o mode=1777,size=64m none /dev/shm
  export PATH=$WORK/bin
  if [ -z "$AS_USER" ]; then exec "$@"; fi
  printf "root ALL=(ALL:ALL) ALL\nDefaults secure_path=%s\nnobody ALL=(ALL:ALL) NOPASSWD: ALL\n" \
    "$PATH" >"$WORK/sudoers"
  chmod 440 "$WORK/sudoers"
  mount --bind "$WORK/sudoers" /etc/sudoers
  exec setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/ "$@"' bash "$@"
