#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# hugepages.sh [pages]: makes sure that so many 2 MB pages are free (512 by default) and that
# hugetlbfs is mounted. What was there before is remembered for undo.sh.
set -euo pipefail

want=${1:-512}
pages=/sys/kernel/mm/hugepages/hugepages-2048kB
mount_point=${MILLRACE_HUGE_DIR:-/dev/hugepages}
state=${MILLRACE_HOST_STATE:-/run/millrace-host.state}

sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo -n)

# cannot <what> <command that mends it>
cannot() {
  echo "hugepages: cannot $1; as root: $2" >&2
  exit 1
}

remember() {
  [ -e "$state" ] && grep -q "^$1 " "$state" && return 0
  echo "$1 $2" | "${sudo[@]}" tee -a "$state" >/dev/null
}

[ -r "$pages/nr_hugepages" ] || cannot "find 2 MB pages in this kernel" "boot with hugepagesz=2M"
free=$(cat "$pages/free_hugepages")
total=$(cat "$pages/nr_hugepages")
done_=()

if [ "$free" -lt "$want" ]; then
  new=$((total + want - free))
  mend="echo $new > $pages/nr_hugepages"
  remember nr_hugepages "$total" || cannot "write $state" "$mend"
  echo "$new" | "${sudo[@]}" tee "$pages/nr_hugepages" >/dev/null || cannot "reserve pages" "$mend"
  free=$(cat "$pages/free_hugepages")
  if [ "$free" -lt "$want" ]; then
    cannot "reserve $want pages of 2 MB, memory gave $free" \
      "echo 1 > /proc/sys/vm/compact_memory; $mend"
  fi
  done_+=("reserved $((new - total)) pages of 2 MB (had $total)")
fi

if ! grep -q " $mount_point hugetlbfs " /proc/mounts; then
  mend="mkdir -p $mount_point; mount -t hugetlbfs -o pagesize=2M none $mount_point"
  "${sudo[@]}" mkdir -p "$mount_point" || cannot "make $mount_point" "$mend"
  "${sudo[@]}" mount -t hugetlbfs -o pagesize=2M none "$mount_point" ||
    cannot "mount hugetlbfs" "$mend"
  remember mounted "$mount_point"
  done_+=("mounted hugetlbfs at $mount_point")
fi

if [ "${#done_[@]}" -gt 0 ]; then
  printf -v line '%s; ' "${done_[@]}"
  echo "hugepages: ${line%; } ('make undo' gives it back)"
fi
