// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Whether ingresses read their ports (StatusHeader::drained). `millrace drain` and `undrain` write
/// it themselves: it holds whatever dies meanwhile, the supervisor included, until it is written
/// again. One thread.
class DrainWord {
 public:
  /// `plan` is borrowed. Throws Error as StatusSource.
  explicit DrainWord(const Plan& plan);
  /// Over memory that another object holds (tests).
  DrainWord(const Plan& plan, const StatusView& view) : plan_(plan), view_(view) {}

  void set(bool drained);
  /// From now on what is sent to a loop is dropped (`no_output`): what goes round comes to its end.
  /// False, and nothing is done: they are cut, or nothing is drained.
  bool cut_loops();
  bool is_set() const { return view_.header().drained.load(std::memory_order_acquire) != 0; }

  /// Names of the ingresses that may still hand on a packet read before set(true), which this
  /// object was told; empty: nothing is received any more, and audits from now on are about all
  /// that was. One that has died counts when recovery is through with it.
  std::vector<std::string> still_reading() const;

 private:
  bool rests(std::uint32_t ingress) const;

  const Plan& plan_;
  Mapping mapping_;
  StatusView view_;
  std::uint64_t since_tsc_ = 0;
};

}  // namespace millrace
