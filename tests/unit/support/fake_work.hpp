// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/stage_work.hpp"
#include "shared/layout/slot_state.hpp"
#include "tests/unit/support/ordinal.hpp"

namespace millrace::test {

/// Functions that only note what they were called with. A result is the low half of the packet's
/// ordinal plus 1000 a function, so a result of another batch or function is noticed.
class FakeWork : public StageWork {
 public:
  struct Call {
    std::uint32_t stage = 0;
    std::uint32_t lane = 0;
    std::uint64_t sequence = 0;
    SlotState state;  ///< of the slot during the call
    std::vector<std::uint32_t> results;
    friend bool operator==(const Call&, const Call&) = default;
  };

  explicit FakeWork(std::uint32_t function_count = 1) : function_count_(function_count) {}
  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    runs.push_back(call_of(stage, batch));
  }
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override {
    computed.push_back(call_of(stage, batch));
    computed_counts.push_back(batch.count);
    for (std::uint32_t f = 0; f < function_count_; ++f) {
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        results[f * batch.capacity + i] = result_of(ordinal_of(batch, i), f);
      }
    }
  }
  std::uint32_t columns(std::uint8_t, std::uint32_t) const noexcept override {
    return function_count_;
  }
  void finish(std::uint8_t stage, const Batch& batch) noexcept override {
    finished.push_back(call_of(stage, batch));
    for (std::uint32_t f = 0; f < function_count_; ++f) {
      for (const std::uint32_t word : batch.results(f)) finished.back().results.push_back(word);
    }
  }
  static std::uint32_t result_of(std::uint64_t ordinal, std::uint32_t function) {
    return static_cast<std::uint32_t>(ordinal) + 1000 * function;
  }

  std::vector<Call> runs, computed, finished;
  std::vector<std::uint32_t> computed_counts;  ///< packets, by call of compute

 private:
  static Call call_of(std::uint8_t stage, const Batch& batch) {
    return {stage,
            batch.header->lane,
            batch.header->sequence,
            SlotState::from_word(batch.header->state.load()),
            {}};
  }
  std::uint32_t function_count_;
};

}  // namespace millrace::test
