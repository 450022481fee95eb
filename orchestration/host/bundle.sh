#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make bundle`: build/bundle/millrace-bundle.tar.xz, which runs on a bare x86-64 Linux with this
# glibc or a newer one. Proves it in a root directory that holds glibc and the bundle only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

jobs=${JOBS:-$(nproc)}
build=build/bundle
stage=$build/stage/millrace
archive=$build/millrace-bundle.tar.xz
megabytes_max=64
# What every system has, and must bring itself.
glibc='^(linux-vdso|ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libresolv)\.so'

compile() {
  mkdir -p "$build"
  cmake -S . -B "$build" -G Ninja -DMILLRACE_BUNDLE=ON >"$build/configure.log" ||
    { cat "$build/configure.log"; return 1; }
  cmake --build "$build" -j "$jobs"
}

# Libraries of the executables that are not glibc's, beside them.
copy_libraries() {
  local name path
  ldd "$stage"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
    while read -r name path; do
      [[ $name =~ $glibc ]] || install -m 0644 "$path" "$stage/lib/$name"
    done
}

copy_files() {
  local path
  for path in LICENSE README.md CHANGELOG.md orchestration/topologies orchestration/schema \
    dashboards tests/bench tests/harness \
    tests/gpu/README.md tests/gpu/sanitize.sh; do
    [ -e "$path" ] || continue
    mkdir -p "$stage/$(dirname "$path")"
    cp -r "$path" "$stage/$(dirname "$path")/"
  done
  cp orchestration/host/bundle.md "$stage/BUNDLE.md"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
}

# Every object resolves to glibc or to the bundle's own lib/.
check_libraries() {
  local object bad=0 line
  for object in "$stage"/bin/* "$stage"/lib/*; do
    while read -r line; do
      [[ $line =~ $glibc || -e $stage/lib/$line ]] && continue
      echo "bundle: $(basename "$object") needs $line, which the bundle lacks" >&2
      bad=1
    done < <(objdump -p "$object" 2>/dev/null | awk '/NEEDED/ { print $2 }')
  done
  return "$bad"
}

# Each executable starts where there is nothing but glibc. Status 126, 127: it could not be loaded.
check_bare_root() {
  local root=$build/bare program status
  [ "$(id -u)" -eq 0 ] || { echo "bundle: not root, the bare root is not tried"; return 0; }
  rm -rf "$root"
  mkdir -p "$root/lib64" "$root/lib/x86_64-linux-gnu" "$root/proc" "$root/tmp"
  cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
  for program in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libresolv.so.2; do
    cp -L "/lib/x86_64-linux-gnu/$program" "$root/lib/x86_64-linux-gnu/"
  done
  cp -r "$stage" "$root/millrace"
  for program in "$stage"/bin/*; do
    program=/millrace/bin/$(basename "$program")
    status=0
    # Without /proc the loader cannot find $ORIGIN by itself.
    LD_ORIGIN_PATH=/millrace/bin timeout 20 chroot "$root" "$program" --help \
      >"$build/bare.log" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 126 ] || [ "$status" -eq 127 ] || [ "$status" -ge 132 ]; then
      echo "bundle: $program does not start on a bare machine (status $status):" >&2
      cat "$build/bare.log" >&2
      return 1
    fi
  done
  rm -rf "$root"
}

compile
rm -rf "$build/stage"
mkdir -p "$stage/bin" "$stage/lib"
shopt -s nullglob
for program in "$build"/bin/*; do
  if [ -f "$program" ] && [ -x "$program" ]; then install -s -m 0755 "$program" "$stage/bin/"; fi
done
compgen -G "$stage/bin/*" >/dev/null || { echo "bundle: nothing was built" >&2; exit 1; }
copy_libraries
copy_files
check_libraries
check_bare_root
# The programs have much in common: a window above all of them makes a third of what they were.
tar -C "$build/stage" -cf - millrace | xz -T1 --lzma2=preset=3,dict=192MiB >"$archive"
bytes=$(stat -c %s "$archive")
echo "bundle: $archive, $((bytes >> 20)) MB, $(find "$stage/bin" -type f | wc -l) executables," \
  "$(find "$stage/lib" -type f | wc -l) libraries"
if [ "$bytes" -gt $((megabytes_max << 20)) ]; then
  echo "bundle: more than $megabytes_max MB" >&2
  exit 1
fi
