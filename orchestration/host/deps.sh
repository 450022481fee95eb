#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing: Debian packages, the Python environment of the tests, and nvcc where
# there is no CUDA toolkit. Quick when nothing is missing.
set -euo pipefail

host=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$host/../.." && pwd)
venv=$root/build/venv

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "deps: '$*' needs root and there is no sudo: run 'make deps' once as root" >&2
    return 1
  fi
}

# Prints the packages of packages.txt that are not installed.
missing_packages() {
  grep -v '^ *\(#\|$\)' "$host/packages.txt" | grep -vxFf \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p') || true
}

# Another installation may hold the lock, and mirrors have bad moments: wait, and try twice.
apt() {
  local try
  for try in 1 2; do
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=300 -qq "$@" >/dev/null && return 0
    [ "$try" -eq 2 ] || sleep 5
  done
  echo "deps: 'apt-get $*' failed twice" >&2
  return 1
}

# The package starts a service that is not wanted; one that was there before is left alone.
quiet_prometheus() {
  [ -d /run/systemd/system ] || return 0
  as_root systemctl disable --now --quiet prometheus || true
}

install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    echo "deps: not a Debian system: install what $host/packages.txt lists" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -eq 0 ] && return 0
  echo "deps: installing ${missing[*]}"
  apt update
  apt install -y --no-install-recommends "${missing[@]}"
  if grep -qx prometheus <<<"$(printf '%s\n' "${missing[@]}")"; then quiet_prometheus; fi
}

# pip_install <requirements file>: once for each content of the file.
pip_install() {
  local stamp
  stamp=$venv/.$(basename "$1").stamp
  cmp -s "$1" "$stamp" && return 0
  echo "deps: installing $(basename "$1") into build/venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$1" ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$1"
  cp "$1" "$stamp"
}

install_python() {
  if ! "$venv/bin/python" -c '' 2>/dev/null; then
    rm -rf "$venv"
    python3 -m venv "$venv"
  fi
  pip_install "$host/requirements.txt"
}

install_nvcc() {
  local cuda
  if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    return 0
  fi
  pip_install "$host/requirements-nvcc.txt"
  for cuda in "$venv"/lib/python3*/site-packages/nvidia/cu13; do
    ln -sfn lib "$cuda/lib64"  # where nvcc looks
  done
}

install_packages
mkdir -p "$root/build"
exec 9>"$root/build/.deps.lock"
flock 9
install_python
install_nvcc
