// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/way_back.hpp"

#include <algorithm>

#include "shared/base/check.hpp"

namespace millrace {

void WayBack::begin() {
  MILLRACE_CHECK(!under_way_ && tries_ < kTriesMax);
  ++tries_;
  under_way_ = true;
}

void WayBack::failed(const std::string& error, Time now) {
  MILLRACE_CHECK(under_way_);
  under_way_ = false;
  error_ = error;
  next_ = now + pause_;
  pause_ = std::min(2 * pause_, kPauseMax);
}

std::string WayBack::what() const {
  return "taken back to " + std::to_string(generation_) + ", " + why_;
}

std::string WayBack::text(const std::string& run) const {
  const std::string to = "generation " + std::to_string(generation_);
  const std::string tries = std::to_string(tries_) + " of " + std::to_string(kTriesMax);
  if (given_up()) {
    return "the last change, to be " + what() + ", could not be: " + error_ + "; given up after " +
           std::to_string(tries_) + " tries; try again: millrace rollback " + run + " " +
           std::to_string(generation_);
  }
  std::string text = "the last change is being taken back to " + to + ", " + why_;
  if (!error_.empty()) {
    text += ": try " + tries + (under_way_ ? " is under way" : " failed, more follow") +
            "; last error: " + error_;
  }
  return text;
}

}  // namespace millrace
