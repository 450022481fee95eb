// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pulse.hpp"

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPauseNs = 1'000'000'000;  // between two questions
constexpr std::chrono::milliseconds kAtOnce{0};

}  // namespace

/// A refusal is a sign of life too.
bool Pulse::is_answered() {
  try {
    return asker_.answer_within(question_, kAtOnce).has_value();
  } catch (const Error&) {
    return true;
  }
}

void Pulse::look() {
  const std::uint64_t now = monotonic_ns();
  if (question_ != 0 && is_answered()) {
    ++answers_;
    answered_ns_ = now;
    question_ = 0;
  }
  if (question_ == 0 && now - answered_ns_ > kPauseNs) {
    question_ = asker_.ask(StatusRequest{}, kAtOnce);
  }
  if (watch_.hangs(answers_, now)) throw Error(otherwise_);
}

}  // namespace millrace
