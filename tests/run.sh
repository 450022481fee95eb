#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make test`: build, show the demonstration as on a bare host, run ctest and pytest, say what
# passed. Fails if any part does. Tests that start processes wait most of the time: three files of
# them run at once (MILLRACE_WORKERS), and what computes for long takes the processors they leave.
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

# beside <name> <command>...: begins a part that computes. It takes the processors that others
# leave, and its output waits for await_beside.
beside() {
  echo "== $1: begins, beside what follows"
  shift
  set -m  # a group of its own, to be ended whole
  nice_part "$@" </dev/null >build/beside.out 2>&1 &
  beside=$!
  set +m
  trap 'kill -- "-$beside" 2>/dev/null || true' EXIT
}

nice_part() {
  local start=$SECONDS status=0
  renice -n 19 "$BASHPID" >/dev/null
  "$@" || status=$?
  echo "   $((SECONDS - start)) s, beside others"
  return "$status"
}

await_beside() {
  local status=0
  wait "$beside" || status=$?
  trap - EXIT
  cat build/beside.out
  return "$status"
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

# shared_folders <folder>...: their files by several workers, each in namespaces of its own.
shared_folders() {
  MILLRACE_BUILD=$PWD/$build build/venv/bin/python tests/runner/share_out.py \
    --workers "${MILLRACE_WORKERS:-3}" "$@"
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
  beside "captures under sanitizers" sanitized_captures
  part "unit tests" run_ctest
  part "runner, tidy, golden, dashboards, crash and pipeline tests" shared_folders \
    tests/runner tests/tidy tests/golden tests/dashboards tests/crash tests/pipeline
  part "captures under sanitizers" await_beside
fi

echo "== summary"
[ "${#passed[@]}" -eq 0 ] || printf '  passed: %s\n' "${passed[@]}"
[ "${#failed[@]}" -eq 0 ] || printf '  FAILED: %s\n' "${failed[@]}"
took="$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "test: ${#passed[@]} passed, ${#failed[@]} failed, in $took"
[ "${#failed[@]}" -eq 0 ]
