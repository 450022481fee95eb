#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Gives back what runs took from this host: the demonstration's namespaces, files of runs that are
# dead, hugepages, the mount.
# Touches nothing that a living process has mapped or open.
set -euo pipefail
shopt -s nullglob

pages=/sys/kernel/mm/hugepages/hugepages-2048kB
mount_point=${MILLRACE_HUGE_DIR:-/dev/hugepages}
state=${MILLRACE_HOST_STATE:-/run/millrace-host.state}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "undo: needs root" >&2; exit 1; }
  exec sudo -n MILLRACE_HUGE_DIR="$mount_point" MILLRACE_HOST_STATE="$state" "$0" "$@"
fi

if [ -e /run/netns/millrace-demo-router ]; then
  "$(dirname "${BASH_SOURCE[0]}")/demo.sh" stop
  echo "undo: ended the demonstration"
fi

if [ -e "$root/build/monitor/pids.json" ]; then
  python3 "$root/dashboards/monitor.py" stop
fi

in_use() {
  grep -qsF "$1" /proc/[0-9]*/maps /proc/net/unix ||
    find /proc/[0-9]*/fd -lname "$1*" -print -quit 2>/dev/null | grep -q .
}

bypassed() { # or a bridge stays without an owner
  local name=${1%.telemetry.json}
  grep -qs '^is on' "${name%.bypass}.bypass"
}

removed=0
kept=0
for file in "$mount_point"/millrace* /dev/shm/millrace* /run/millrace/* /run/dpdk/millrace*; do
  if in_use "${file%.telemetry.json}"; then # for Prometheus: of the run directory beside it
    echo "undo: $file is in use by a running topology, kept"
    kept=$((kept + 1))
  elif bypassed "$file"; then
    name=$(basename "${file%.*}" .telemetry)
    echo "undo: $file is kept: the bypass has the packets (millrace bypass $name off)"
  else
    rm -rf "$file"
    removed=$((removed + 1))
  fi
done
echo "undo: removed $removed files of dead runs"

[ -e "$state" ] || exit 0
if [ "$kept" -gt 0 ]; then
  echo "undo: stop the running topology first, then run this again for the hugepages" >&2
  exit 1
fi
while read -r what value; do
  case $what in
    nr_hugepages)
      echo "$value" >"$pages/nr_hugepages"
      echo "undo: pages of 2 MB back to $value"
      ;;
    mounted)
      umount "$value" && echo "undo: unmounted $value"
      ;;
  esac
done <"$state"
rm -f "$state"
