#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make check`: format, the rules of the tree, layouts under nvcc, headers alone, clang-tidy. The
# last two look again only at what changed since they passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export JOBS=${JOBS:-$(nproc)}
build=build/check  # nothing is compiled there: each source by itself is in its list of commands
passed=0
failed=()

part() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed+=("$name")
  fi
  echo "   $((SECONDS - start)) s"
}

sources() {
  git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.cu' '*.cuh' |
    while read -r file; do
      if [ -e "$file" ]; then echo "$file"; fi
    done
}

configure() {
  cmake -S . -B "$build" -G Ninja -DMILLRACE_UNITY=OFF >build/configure-check.log ||
    { cat build/configure-check.log; return 1; }
  cmake --build "$build" --target generated_headers -- --quiet
}

format() {
  sources | xargs -r clang-format --dry-run -Werror
}

shell_scripts() {
  git ls-files --cached --others --exclude-standard '*.sh' .ci/run | xargs -r -n 1 bash -n
}

part "configure" configure
part "format" format
part "shell scripts parse" shell_scripts
part "rules of the tree" python3 tests/tidy/tidy.py
part "layouts under g++ and nvcc" python3 tests/tidy/compile.py layouts "$build"
part "every header alone" python3 tests/tidy/compile.py headers "$build"
part "clang-tidy" python3 tests/tidy/compile.py lint "$build"

[ "${#failed[@]}" -eq 0 ] || printf 'FAILED: %s\n' "${failed[@]}"
echo "check: $passed passed, ${#failed[@]} failed"
[ "${#failed[@]}" -eq 0 ]
