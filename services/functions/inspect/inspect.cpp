// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect.hpp"

#include <array>
#include <memory>
#include <optional>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/function_rows.hpp"
#include "services/functions/inspect/inspect_settings.hpp"
#include "services/functions/match/image.hpp"
#include "services/functions/match/match_verdicts.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "services/functions/stream/tcp_streams.hpp"
#include "shared/base/check.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::uint32_t kExtraCounters =
    kMatchExtraCount + static_cast<std::uint32_t>(StreamCounter::kCount);

/// Places in kReasons; the first one is RuleReason's.
enum class InspectReason : std::uint8_t { kRule, kConflict, kFull };
constexpr std::array kReasons = {kRuleReasons[0], kStreamConflict, kStreamFull};

StreamLimits limits_of(const InspectSettings& settings, const MatchImage& image) {
  StreamLimits limits = settings.limits;
  limits.carry = image.longest() == 0 ? 0 : image.longest() - 1;
  return limits;
}

class Inspect final : public Function {
 public:
  explicit Inspect(const FunctionContext& context)
      : settings_(inspect_settings(context.function.settings)),
        image_(context.function.image),
        scanner_(image_),
        verdicts_(image_, match_tells(context.function)),
        lane_(settings_.room),
        streams_(limits_of(settings_, image_),
                 {.trusts_checksums = settings_.trusts_checksums,
                  .first_counter = image_.rules().size() + kMatchExtraCount}) {}

  /// Streams are known in finish alone.
  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) {
      const std::span<const std::byte> frame = batch.bytes(packet);
      const bool stream = parse_headers(frame).protocol == kTcp;
      results[packet] = stream ? 0 : scanner_.strongest_rule(frame);
    }
  }

  void finish(const FinishContext& call) noexcept override {
    std::optional<StreamTable> table = lane_.table_of(call.state, call.facts);
    for (const std::uint16_t packet : call.selected.packets) {
      const PacketHeaders headers = parse_headers(call.batch.bytes(packet));
      if (headers.protocol == kTcp) {
        finish_tcp(call, table ? &*table : nullptr, packet, headers);
        if (!call.batch.is_dropped(packet)) streams_.pass(call, call.batch.bytes(packet), headers);
      } else {
        verdicts_.apply(call, packet, call.results[packet]);
      }
    }
  }

  void flow_ended(const StateOfFunction& own, const FlowEntry& flow) noexcept override {
    end_stream(own, flow.tuple);
  }
  void flow_not_kept(const StateOfFunction& own, const FlowTuple& tuple,
                     const FlowOwn& /*kept*/) noexcept override {
    end_stream(own, tuple);
  }

 private:
  void end_stream(const StateOfFunction& own, const FlowTuple& tuple) const noexcept {
    if (tuple.protocol != kTcp) return;
    if (auto table = lane_.laid_out(own.state)) table->end(tuple);
  }
  /// Looks at what the segment lets its receiver read, and lets it pass.
  void finish_tcp(const FinishContext& call, StreamTable* table, std::uint16_t packet,
                  const PacketHeaders& headers) noexcept {
    const TcpStreams::Taken taken = streams_.take(call, table, packet, headers);
    if (taken.fate == TcpStreams::Fate::kPasses) return;
    if (taken.fate == TcpStreams::Fate::kRefused) {
      return call.batch.drop(
          packet, call.reason(taken.counter == StreamCounter::kNoRoom ? InspectReason::kFull
                                                                      : InspectReason::kConflict));
    }
    if (!taken.offer.text.empty()) {
      const std::uint32_t word = scanner_.strongest_rule(taken.offer.text, taken.offer.carry,
                                                         call.batch.bytes(packet), headers);
      verdicts_.apply(call, packet, word);
      if (call.batch.is_dropped(packet)) return;
    }
    MILLRACE_CHECK(table != nullptr);  // nothing is offered without one
    if (!streams_.commit(call, *table, taken)) {
      call.batch.drop(packet, call.reason(InspectReason::kFull));
    }
  }

  InspectSettings settings_;
  MatchImage image_;
  MatchScanner scanner_;
  MatchVerdicts verdicts_;
  StreamLane lane_;
  TcpStreams streams_;
};

void check_inspect(const PlanFunction& function) {
  inspect_settings(function.settings);
  match_tells(function);
  check_rule_files(function, "inspect");
}

LaneNeeds needs_of(const LaneRequest& request) {
  return StreamLane::needs_of(inspect_settings(request.settings).room, request,
                              StreamReader::kLinesOfSegment + StreamReader::kLinesOfAcknowledgment +
                                  StreamTable::kLinesOfEnd);
}

BuildReport build_inspect(const FunctionContext& context) {
  check_inspect(context.function);
  return build_match_image(context, MatchPlaces::kEach, kExtraCounters);
}

}  // namespace

FunctionType inspect_type() {
  FunctionType type;
  type.traits = {.type = "inspect",
                 .summary = "literal strings over byte streams of TCP: drop, class, alert",
                 .regions = kReadsWholePackets,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .has_image = true,
                 .reasons = kReasons,
                 .rewrites = Rewrites::kHeaders,
                 .settings = known_inspect_settings()};
  type.make = make_function<Inspect>;
  type.build = build_inspect;
  type.check = check_inspect;
  type.asks_for_events = match_asks_for_events;
  return type;
}

}  // namespace millrace
