#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make test`: build, show the demonstration as on a bare host, run ctest and pytest, say what
# passed. Fails if any part does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=${JOBS:-$(nproc)}
build=build/release
passed=()
failed=()

# part <name> <command>...: runs one part and keeps its result.
part() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    passed+=("$name ($((SECONDS - start)) s)")
  else
    failed+=("$name ($((SECONDS - start)) s, status $?)")
  fi
}

configure() {
  cmake -S . -B "$build" -G Ninja >build/configure.log || { cat build/configure.log; return 1; }
}

# ctest alone would call an empty list of tests a success.
run_ctest() {
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" "$@"
}

# run_pytest <build> <test>...: one that hangs says where after ten minutes, and the whole is ended
# like by Ctrl-C, so that tests still bring down what they have started.
run_pytest() {
  local build=$1
  shift
  MILLRACE_BUILD=$PWD/$build timeout --foreground -s INT -k 30 60m build/venv/bin/python -m pytest \
    -q -p no:cacheprovider -o tmp_path_retention_policy=failed -o faulthandler_timeout=600 "$@"
}

# pytest_folder <folder>: a folder without a test is a failure (status 5 of pytest).
pytest_folder() {
  run_pytest "$build" "$1"
}

# shared_folders <folder>...: their files by two workers, each in namespaces of its own.
shared_folders() {
  MILLRACE_BUILD=$PWD/$build build/venv/bin/python tests/runner/share_out.py "$@"
}

# on_a_bare_host [--user] <command>...: needs root, as the demonstration does.
on_a_bare_host() {
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
  "${sudo[@]}" tests/host/bare.sh "$@"
}

# Every shared capture through `millrace try` once more, with address and undefined-behaviour
# sanitizers; one function beside the other.
sanitized_captures() {
  cmake -S . -B build/asan -G Ninja -DMILLRACE_SANITIZE=address >build/configure.log ||
    { cat build/configure.log; return 1; }
  cmake --build build/asan -j "$jobs" --target millrace millrace-builder || return 1
  run_pytest build/asan tests/golden/test_match_captures.py &
  local match=$! status=0
  run_pytest build/asan tests/golden/test_route_captures.py -k "not scapy" || status=1
  wait "$match" || status=1
  return "$status"
}

part "build" eval "configure && cmake --build $build -j $jobs"
if [ "${#failed[@]}" -eq 0 ]; then
  part "demonstration on a bare host" on_a_bare_host make run
  part "demonstration by sudo" on_a_bare_host --user orchestration/host/demo.sh
  part "hugepages" orchestration/host/hugepages.sh "${MILLRACE_HUGEPAGES:-512}"
  part "unit tests" run_ctest
  for folder in runner tidy crash; do
    part "$folder tests" pytest_folder "tests/$folder"
  done
  part "golden and dashboards tests" shared_folders tests/golden tests/dashboards
  part "pipeline tests" shared_folders tests/pipeline
  part "captures under sanitizers" sanitized_captures
fi

echo "== summary"
[ "${#passed[@]}" -eq 0 ] || printf '  passed: %s\n' "${passed[@]}"
[ "${#failed[@]}" -eq 0 ] || printf '  FAILED: %s\n' "${failed[@]}"
took="$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "test: ${#passed[@]} passed, ${#failed[@]} failed, in $took"
[ "${#failed[@]}" -eq 0 ]
