// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect.hpp"

#include <array>
#include <memory>
#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/inspect/inspect_settings.hpp"
#include "services/functions/inspect/tcp_data.hpp"
#include "services/functions/match/image.hpp"
#include "services/functions/match/match_verdicts.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::uint32_t kExtraCounters =
    kMatchExtraCount + static_cast<std::uint32_t>(InspectCounter::kCount);

/// Places in kReasons; the first one is RuleReason's.
enum class InspectReason : std::uint8_t { kRule, kConflict, kFull };
constexpr std::array kReasons = {
    kRuleReasons[0],
    DeclaredReason{"stream_conflict", ReasonCause::kPolicy,
                   "TCP data that cannot be read as its receiver would: of no connection, other "
                   "bytes than before, a wrong checksum, a fragment"},
    DeclaredReason{"stream_full", ReasonCause::kLoss,
                   "TCP data without room to keep it: `window_kb`, `memory_mb` or `streams`"}};

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
        reader_(limits_of(settings_, image_)) {}

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
        finish_tcp(call, table, packet, headers);
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
  void hit(const FinishContext& call, InspectCounter counter) const noexcept {
    call.counters.hit(image_.rules().size() + kMatchExtraCount + static_cast<std::size_t>(counter));
  }
  void drop(const FinishContext& call, std::uint16_t packet, InspectReason why,
            InspectCounter counter) const noexcept {
    hit(call, counter);
    call.batch.drop(packet, call.reason(why));
  }

  void finish_tcp(const FinishContext& call, std::optional<StreamTable>& table,
                  std::uint16_t packet, const PacketHeaders& headers) noexcept {
    const std::span<std::byte> frame = call.batch.bytes(packet);
    if (headers.status != ParseStatus::kOk || headers.fragment || headers.payload_offset == 0) {
      return drop(call, packet, InspectReason::kConflict, InspectCounter::kUnread);
    }
    const PacketFlow flow = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
    const bool has_flow = flow.flow != kNoFlow && flow.state != FlowState::kInvalid;
    const std::span<const std::byte> data = tcp_data(frame, headers);
    if (has_flow && table) {
      const FlowTuple& tuple = call.flows->tuple(flow.flow, 0);
      if (is_tcp_syn(frame, headers) &&
          !reader_.handshake(*table, tuple, flow.direction, tcp_sequence(frame, headers) + 1,
                             tcp_acknowledgment(frame, headers))) {
        return drop(call, packet, InspectReason::kConflict, InspectCounter::kConflicts);
      }
      acknowledge(*table, tuple, flow);
    }
    if (data.empty()) return;
    if (!has_flow || !table) {
      return drop(call, packet, InspectReason::kConflict, InspectCounter::kNoFlow);
    }
    if (flow.opens || is_tcp_syn(frame, headers)) {
      return drop(call, packet, InspectReason::kConflict, InspectCounter::kUnread);
    }
    if (!settings_.trusts_checksums && !has_good_tcp_checksum(frame, headers)) {
      return drop(call, packet, InspectReason::kConflict, InspectCounter::kChecksum);
    }
    if (clear_urgent(frame, headers)) hit(call, InspectCounter::kUrgent);
    read(call, *table, packet, headers,
         {.tuple = call.flows->tuple(flow.flow, 0),
          .direction = flow.direction,
          .sequence = tcp_sequence(frame, headers),
          .acknowledged = flow.acknowledged,
          .is_picked_up = flow.is_picked_up,
          .data = data});
  }

  void acknowledge(StreamTable& table, const FlowTuple& tuple, const PacketFlow& flow) noexcept {
    const auto other = static_cast<std::uint8_t>(1 - flow.direction);
    if (const auto until = flow.acknowledged[other]) {
      reader_.acknowledge(table, tuple, other, *until);
    }
  }

  /// Looks at what the segment lets its receiver read, and lets it pass.
  void read(const FinishContext& call, StreamTable& table, std::uint16_t packet,
            const PacketHeaders& headers, const StreamSegment& segment) noexcept {
    const StreamReader::Offer offer = reader_.offer(table, segment);
    if (offer.fate == StreamReader::Fate::kConflicts) {
      return drop(call, packet, InspectReason::kConflict, InspectCounter::kConflicts);
    }
    if (offer.fate == StreamReader::Fate::kNoRoom) {
      return drop(call, packet, InspectReason::kFull, InspectCounter::kNoRoom);
    }
    if (!offer.text.empty()) {
      const std::uint32_t word =
          scanner_.strongest_rule(offer.text, offer.carry, call.batch.bytes(packet), headers);
      verdicts_.apply(call, packet, word);
      if (call.batch.is_dropped(packet)) return;
    }
    if (!reader_.commit(table, segment)) {
      return drop(call, packet, InspectReason::kFull, InspectCounter::kNoRoom);
    }
    const InspectCounter without_text =
        offer.has_new ? InspectCounter::kAhead : InspectCounter::kSeen;
    hit(call, offer.text.empty() ? without_text : InspectCounter::kTexts);
  }

  InspectSettings settings_;
  MatchImage image_;
  MatchScanner scanner_;
  MatchVerdicts verdicts_;
  StreamLane lane_;
  StreamReader reader_;
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

std::unique_ptr<Function> make_inspect(const FunctionContext& context) {
  return std::make_unique<Inspect>(context);
}

}  // namespace

FunctionType inspect_type() {
  static constexpr Region kRegions[] = {{Region::Start::kFrame, 128},
                                        {Region::Start::kPayload, kWholePacket}};
  FunctionType type;
  type.traits = {.type = "inspect",
                 .summary = "literal strings over byte streams of TCP: drop, class, alert",
                 .regions = kRegions,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .has_image = true,
                 .reasons = kReasons,
                 .rewrites = Rewrites::kHeaders,
                 .settings = known_inspect_settings()};
  type.make = make_inspect;
  type.build = build_inspect;
  type.check = check_inspect;
  type.asks_for_events = match_asks_for_events;
  return type;
}

}  // namespace millrace
