#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make soak`: what `make test` does once, again and again with other seeds and more blows, for
# SOAK_SECONDS (an hour). Stops at the first finding and says how to repeat it.
# SOAK_SEED: the first round's seed; else one is drawn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/release
seconds=${SOAK_SECONDS:-3600}
seed=${SOAK_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
# What a part of a round does: blows, changes, seeds.
export MILLRACE_KILLS=100 MILLRACE_SOAK=60 MILLRACE_CHANGES=50 MILLRACE_DEVICE_KILLS=20
export MILLRACE_SEEDS=3

# part <name> <command>...: runs one part, as long as there is time.
part() {
  local name=$1
  shift
  [ "$SECONDS" -lt "$seconds" ] || return 0
  echo "== $((SECONDS / 60)) min, seed $seed: $name"
  "$@" && return
  echo "soak: FAILED: $name; to repeat it: SOAK_SEED=$seed make soak" >&2
  exit 1
}

kills_between_stores() {
  "$build/test/race_test" --kills 2000 --seed "$seed"
}

mutations() {
  local target
  for target in "$build"/fuzz/fuzz_*; do
    MILLRACE_FUZZ_SEED=$seed MILLRACE_FUZZ_RUNS=50000 "$target" \
      "tests/fuzz/corpus/$(basename "$target" | cut -d_ -f2-)" || return 1
  done
}

processes() {
  MILLRACE_SEED=$seed MILLRACE_BUILD=$PWD/$build build/venv/bin/python -m pytest -q -x \
    -p no:cacheprovider -o tmp_path_retention_policy=failed -o faulthandler_timeout=3600 "$@"
}

routes_of_the_kernel() {
  MILLRACE_WRITER_KILLS=10 MILLRACE_CHANGES=60000 processes tests/pipeline/test_live_routes.py
}

streams() {
  MILLRACE_STREAM_SEEDS=200 processes tests/pipeline/test_streams.py \
    tests/pipeline/test_evasion.py
}

echo "soak: $seconds s from seed $seed on"
rounds=0
while [ "$SECONDS" -lt "$seconds" ]; do
  part "kills between any two stores" kills_between_stores
  part "mutations of what is parsed" mutations
  part "kills of processes" processes tests/crash
  part "order" processes tests/pipeline/test_order.py
  part "changes" processes tests/pipeline/test_changes.py tests/pipeline/test_functions.py
  part "interfaces and queues" processes tests/pipeline/test_interfaces.py \
    tests/pipeline/test_queues.py
  part "changes of the kernel's routes" routes_of_the_kernel
  part "streams that are split, reordered and overlap" streams
  part "drain" processes tests/pipeline/test_drain.py
  rounds=$((rounds + 1))
  seed=$((seed + 1))
done
echo "soak: $rounds rounds, no finding"
