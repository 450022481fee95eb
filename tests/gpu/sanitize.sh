#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# The GPU tests under NVIDIA's compute-sanitizer: sanitize.sh [TOOL...], memcheck and racecheck
# unless said. Exit 0: nothing was found; 1: something was, or a test failed; 3: not possible here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

logs=${LOGS:-$(mktemp -d "${TMPDIR:-/tmp}/millrace-sanitize.XXXXXX")}
# A hundredth of what the tests do is enough: every path is taken, each access costs a hundredfold.
percent=${MILLRACE_GPU_PERCENT:-1}
minutes=${MINUTES:-15} # a tool
# Provoked faults would be findings; without memory the tool has none either.
tests='-Failure.AKernel*:Failure.WithoutMemory*:Failure.ANewTable*'
# memcheck knows the memory that a kernel had at its launch: what is allocated beside a running one
# is out of bounds to it, even if it is never freed (tried alone, with 2025.3).
declare -A beside=([memcheck]=':Swap.*')

find_sanitizer() {
  local path
  for path in "${SANITIZER:-}" "$(command -v compute-sanitizer || true)" \
    /usr/local/cuda*/bin/compute-sanitizer /usr/local/cuda*/compute-sanitizer/compute-sanitizer; do
    if [ -n "$path" ] && [ -x "$path" ]; then echo "$path"; return; fi
  done
  echo "sanitize: no compute-sanitizer here; it comes with CUDA's toolkit (SANITIZER=its path)" >&2
  return 1
}

# In the bundle, or in the tree.
find_program() {
  local path
  for path in "$here/../../bin" "$here/../../build/release/test"; do
    if [ -x "$path/millrace-gpu-tests" ]; then echo "$path/millrace-gpu-tests"; return; fi
  done
  echo "sanitize: there is no millrace-gpu-tests; build it or unpack the bundle" >&2
  return 1
}

# Calls that fail are the tests' own business: a stream that is asked whether it is done says no.
run_tool() {
  local tool=$1 log=$logs/$1.log status=0 seconds=$SECONDS
  MILLRACE_GPU_PERCENT=$percent timeout "${minutes}m" "$sanitizer" --tool "$tool" \
    --report-api-errors no --error-exitcode 9 \
    "$program" --gtest_filter="$tests${beside[$tool]:-}" >"$log" 2>&1 || status=$?
  echo "== $tool: status $status, $((SECONDS - seconds)) s, $log"
  grep -E '^\[  (PASSED|FAILED) |SKIPPED.*listed|SUMMARY' "$log" || tail -n 20 "$log"
  [ "$status" -ne 124 ] || echo "sanitize: $tool took more than $minutes minutes (MINUTES=)"
  # A run in which every test was skipped has shown nothing.
  [ "$status" -eq 0 ] && grep -q 'SUMMARY' "$log" && ! grep -q 'no GPU' "$log"
}

sanitizer=$(find_sanitizer) || exit 3
program=$(find_program) || exit 3
[ $# -gt 0 ] || set -- memcheck racecheck
failed=0
for tool in "$@"; do run_tool "$tool" || failed=1; done
exit "$failed"
