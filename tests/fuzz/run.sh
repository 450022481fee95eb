#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Every fuzz target under libFuzzer for FUZZ_SECONDS each. What is found lies in build/fuzz/found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-$(nproc)}
build=build/fuzz

cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DMILLRACE_FUZZ=ON -DMILLRACE_SANITIZE=address >build/configure.log ||
  { cat build/configure.log; exit 1; }
cmake --build "$build" -j "$jobs" --target fuzz_targets

failed=0
count=0
mkdir -p "$build/found"
for target in "$build"/fuzz/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  corpus=$build/corpus/${name#fuzz_}
  seeds=tests/fuzz/corpus/${name#fuzz_}
  mkdir -p "$corpus"
  echo "fuzz: ${name#fuzz_} for $seconds s"
  args=("$corpus")
  [ -d "$seeds" ] && args+=("$seeds")
  "$target" -max_total_time="$seconds" -max_len=4096 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="$build/found/${name#fuzz_}-" "${args[@]}" || failed=$((failed + 1))
  count=$((count + 1))
done
echo "fuzz: $((count - failed)) passed, $failed failed; findings in $build/found"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
