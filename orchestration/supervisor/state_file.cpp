// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/state_file.hpp"

#include <cstdio>

#include "shared/base/error.hpp"

namespace millrace {

std::string StateFile::try_resume() {
  try {
    resume();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void StateFile::write(const RunState& state) {
  if (state == written_) return;
  save_run_state(run_dir_, state);
  written_ = state;
  failed_ = false;
}

void StateFile::try_write(Clock::time_point now) {
  if (failed_ && now < try_again_) return;
  try {
    write(state_);
  } catch (const Error& error) {
    try_again_ = now + kTryAgain;
    if (!std::exchange(failed_, true)) std::fprintf(stderr, "millrace: %s\n", error.what());
  }
}

}  // namespace millrace
