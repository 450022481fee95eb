// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow.hpp"

#include <array>
#include <memory>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/flow/flow_tracker.hpp"
#include "services/functions/function_rows.hpp"
#include "shared/base/error.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

enum class FlowReason : std::uint8_t { kInvalid, kTableFull };
constexpr DeclaredReason kFlowReasons[] = {
    {"flow_invalid", ReasonCause::kPolicy,
     "of a connection that there is not; `invalid: drop`, or its question was dropped just before"},
    {"flow_table_full", ReasonCause::kLoss,
     "of a connection that began: no room for it, or its addresses are another's"}};

/// Flows that may be at the end of their time, looked at in one batch: as many begin in it at most.
constexpr std::uint32_t looks_of(std::uint32_t batch_capacity) { return batch_capacity; }

/// A packet: its flow's lines and its deadline, or its fragment, and what functions behind keep or
/// send; and a flow that begins, ends, or both.
constexpr std::uint32_t kLinesOfPacket = 10 + FlowTable::kLinesChangedMax;

LaneNeeds needs_of(const LaneRequest& request) {
  const FlowSettings settings = flow_settings(request.settings);
  return {.state_bytes =
              FlowTable::bytes_for(flows_of_lane(settings, request.lanes)) + FlowFragments::kBytes,
          .undo_lines = request.batch_capacity * kLinesOfPacket +
                        looks_of(request.batch_capacity) * FlowTable::kLinesOfLook};
}

void check(const PlanFunction& function) { flow_settings(function.settings); }

}  // namespace

class FlowFunction final : public Function {
 public:
  explicit FlowFunction(const FunctionContext& context)
      : settings_(flow_settings(context.function.settings)), secret_(random_secret()) {}

  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}

  void finish(const FinishContext& call) noexcept override {
    batch_->begin(call, settings_, secret_);
    FlowTracker tracker(*batch_, settings_, call);
    tracker.expire(looks_of(call.batch.capacity));
    tracker.follow(call.selected.packets);
    if (!settings_.drop_invalid) return;
    for (const std::uint16_t packet : call.selected.packets) {
      if (batch_->of(packet).state == FlowState::kInvalid) {
        call.batch.drop(packet, call.reason(FlowReason::kInvalid));
      }
    }
  }

  FlowBatch* flows() noexcept override { return batch_.get(); }

  EndOfBatch end_batch(const FinishContext& call) noexcept override {
    return FlowTracker(*batch_, settings_, call)
        .keep(call.reason(FlowReason::kInvalid), call.reason(FlowReason::kTableFull));
  }

 private:
  FlowSettings settings_;
  std::array<std::uint64_t, 2> secret_;
  std::unique_ptr<FlowBatch> batch_ = std::make_unique<FlowBatch>();
};

FunctionType flow_type() {
  FunctionType type;
  type.traits = {.type = "flow",
                 .summary = "finds each packet's connection, for the functions behind it",
                 .regions = kReadsHeaders,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kGives,
                 .counter_count = static_cast<std::uint32_t>(FlowCounter::kCount),
                 .reasons = kFlowReasons,
                 .settings = known_flow_settings()};
  type.make = make_function<FlowFunction>;
  type.build = nullptr;
  type.check = check;
  return type;
}

}  // namespace millrace
