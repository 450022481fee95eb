// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/function_watch.hpp"

#include "shared/base/check.hpp"

namespace millrace {

bool FunctionWatch::died(std::uint32_t function, std::uint64_t now_ns) {
  MILLRACE_CHECK(function < deaths_.size());
  if (limit_ == 0) return false;
  std::deque<std::uint64_t>& deaths = deaths_[function];
  MILLRACE_CHECK(deaths.empty() || deaths.back() <= now_ns);
  deaths.push_back(now_ns);
  while (now_ns - deaths.front() > kWindowNs) deaths.pop_front();
  if (deaths.size() < limit_) return false;
  deaths.clear();
  return true;
}

}  // namespace millrace
