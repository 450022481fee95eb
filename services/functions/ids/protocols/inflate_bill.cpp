// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/inflate_bill.hpp"

#include "services/functions/ids/work_budget.hpp"

namespace millrace {

bool InflateBill::pays(WorkShare* work, InflatedBody& body) {
  constexpr std::uint64_t kUnit = WorkShare::kInflatedBytesOfUnit;
  if (has_lost_body_) {
    work->lose_body();
    return false;
  }
  const std::uint64_t usual = body.bytes * kFreeOfByte;
  if (work == nullptr || body.inflated <= usual + body.beyond) return true;
  inflated_ += body.inflated - usual - body.beyond;
  body.beyond = body.inflated - usual;
  const std::uint64_t free = paid_ + kUnit;
  if (inflated_ <= free) return true;
  const std::uint64_t units = (inflated_ - free + kUnit - 1) / kUnit;
  if (!work->take(static_cast<std::uint32_t>(units))) {
    has_lost_body_ = true;
    work->lose_body();
    return false;
  }
  paid_ += units * kUnit;
  return true;
}

}  // namespace millrace
