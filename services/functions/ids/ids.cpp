// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "services/functions/ids/detect/blocked_apps.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/detect/packet_tests.hpp"
#include "services/functions/ids/detect/prefilter.hpp"
#include "services/functions/ids/flow_watch.hpp"
#include "services/functions/ids/hole_reader.hpp"
#include "services/functions/ids/ids_costs.hpp"
#include "services/functions/ids/ids_image.hpp"
#include "services/functions/ids/ids_lane.hpp"
#include "services/functions/ids/ids_log.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/ids/ids_verdicts.hpp"
#include "services/functions/ids/packet_memory.hpp"
#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/ids/reset_receiver.hpp"
#include "services/functions/ids/seen_view.hpp"
#include "services/functions/stream/tcp_data.hpp"
#include "services/functions/stream/tcp_streams.hpp"
#include "shared/base/check.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp, ip_protocol::kUdp;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

StreamLimits limits_of(const IdsSettings& settings, const Detector& detector) {
  StreamLimits limits = settings.limits;
  limits.carry = std::min(detector.carry(), kStreamCarryMax);
  return limits;
}

using Seen = SeenPacket;

class Ids final : public Function {
 public:
  explicit Ids(const FunctionContext& context)
      : settings_(ids_settings(context.function.settings)),
        image_(context.function.image),
        literals_(payload_fingerprint(image_.prefilter())),
        detector_(image_.signatures(), image_.prefilter()),
        costs_(detector_, image_.signatures(), settings_.drops(),
               image_.signatures().size() + static_cast<std::size_t>(IdsCounter::kGivenUp)),
        watch_(detector_, costs_.bounded(settings_.app),
               {.history = settings_.limits.history, .parsers = settings_.parser_mb << 20},
               settings_.log.has_apps(),
               settings_.drops_unread() ? BlockedApps(image_.signatures()) : BlockedApps()),
        memory_(image_.signatures(), image_.flowbit_names()),
        verdicts_(image_.signatures(), image_.suppressions(),
                  {.drops = settings_.drops(),
                   .tells = settings_.tells,
                   .alerts_max = settings_.alerts_max,
                   .bytes = {settings_.alert_payload, settings_.alert_packet}}),
        log_(settings_.log, settings_.alert_app, image_.signatures()),
        lane_(settings_.room),
        layers_({.puts_together = settings_.fragments == FragmentUse::kAssemble,
                 .drops = !settings_.only_watches,
                 .checks_checksums = !settings_.trusts_checksums && !settings_.only_watches}),
        streams_(limits_of(settings_, detector_),
                 {.trusts_checksums = settings_.trusts_checksums,
                  .keeps_urgent = settings_.only_watches,
                  .first_counter =
                      image_.signatures().size() + static_cast<std::size_t>(IdsCounter::kCount)}) {}

  /// Flows are known in finish alone.
  void compute(const Batch& /*batch*/, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) results[packet] = 0;
  }

  void finish(const FinishContext& call) noexcept override {
    std::optional<IdsTables> laid_out = lane_.tables_of(call.state, call.facts);
    IdsTables* const tables = laid_out ? &*laid_out : nullptr;
    const std::uint64_t lost = watch_.lost(), made_room = watch_.made_room();
    now_s_ = static_cast<std::uint32_t>(call.facts.now_ns / kNsPerSecond);
    for (const std::uint16_t packet : call.selected.packets) {
      layers_.begin(call, layer_tables_of(tables), packet);
      do {
        const Seen& seen = layers_.seen();
        memory_.begin(tables, {.flow = seen.tuple, .now_s = now_s_});
        if (!is_decided(call, tables, seen)) look(call, tables, seen);
        watch_.make_room();
      } while (!call.batch.is_dropped(packet) && go_in(call, tables));
      layers_.settle(!call.batch.is_dropped(packet));
    }
    hit(call, IdsCounter::kLostParser, watch_.lost() - lost);
    hit(call, IdsCounter::kMadeRoom, watch_.made_room() - made_room);
  }

  void flow_ended(const StateOfFunction& own, const FlowEntry& flow) noexcept override {
    end_flow(own, flow.tuple);
  }
  void flow_not_kept(const StateOfFunction& own, const FlowTuple& tuple,
                     const FlowOwn& /*kept*/) noexcept override {
    end_flow(own, tuple);
  }

 private:
  void end_flow(const StateOfFunction& own, const FlowTuple& tuple) noexcept {
    if (auto tables = lane_.laid_out(own.state)) {
      end_flow(own.events, 0, *tables, tuple);
    } else {
      watch_.forget(tuple);
    }
  }
  void end_flow(const EventWriter& events, std::uint16_t packet, IdsTables& tables,
                const FlowTuple& tuple) noexcept {
    if (log_.has_apps()) {
      watch_.note_rest(tuple, tables, log_);
      log_.tell(events, packet, tuple);
    }
    watch_.forget(tuple);
    tables.end(tuple, now_s_);
  }
  void hit(const FinishContext& call, IdsCounter counter, std::uint64_t count = 1) const noexcept {
    call.counters.hit(image_.signatures().size() + static_cast<std::size_t>(counter), count);
  }

  /// From what has been looked at to what is in it. False: there is nothing, or it does not pass.
  bool go_in(const FinishContext& call, IdsTables* tables) noexcept {
    const PacketLayers::Next next = layers_.next();
    for (const FlowTuple& ended : layers_.ended()) {
      MILLRACE_CHECK(tables != nullptr);
      end_flow(call.events, layers_.seen().packet, *tables, ended);
    }
    const Seen& seen = layers_.seen();
    if (next == PacketLayers::Next::kMore) {
      const bool is_datagram = seen.layer == Seen::Layer::kDatagram;
      hit(call, is_datagram ? IdsCounter::kDatagram : IdsCounter::kCarried);
      return true;
    }
    if (next == PacketLayers::Next::kEnd || next == PacketLayers::Next::kWaits) return false;
    hit(call, IdsCounter::kHidden);
    const bool is_full = next == PacketLayers::Next::kFull;
    if (settings_.only_watches) return false;
    tell_drop(call, seen, is_full ? EventDropReason::kStreamFull : EventDropReason::kHidden);
    call.batch.drop(seen.packet, call.reason(is_full ? IdsReason::kFull : IdsReason::kConflict));
    return false;
  }

  /// What is dropped with its flow is that too which does not fit into the flow.
  FlowFate fate_of(const FinishContext& call, const IdsTables* tables, const Seen& seen) noexcept {
    const FlowRecord* record = memory_.record();
    const bool is_invalid =
        seen.flow.flow != kNoFlow && seen.flow.state == FlowState::kInvalid && tables != nullptr;
    if (is_invalid) record = tables->records.find(call.flows->tuple(seen.flow.flow, 0));
    if (record == nullptr || (is_invalid && record->fate != FlowFate::kDropped)) {
      const bool goes_on = tables != nullptr && is_of_batch(seen) && seen.has_flow &&
                           seen.flow.is_picked_up && tables->refused.has(*seen.tuple, now_s_);
      return goes_on ? FlowFate::kDropped : FlowFate::kNone;
    }
    return record->fate;
  }

  /// What rules have said of its flow before.
  bool is_decided(const FinishContext& call, const IdsTables* tables, const Seen& seen) noexcept {
    const FlowFate fate = fate_of(call, tables, seen);
    if (fate == FlowFate::kPassed && seen.headers.protocol == kTcp && seen.flow.opens) {
      memory_.end_record();
      return false;
    }
    if (fate == FlowFate::kPassed) {
      hit(call, IdsCounter::kPassedFlow);
      return true;
    }
    if (fate != FlowFate::kDropped || !settings_.drops()) return false;
    hit(call, IdsCounter::kDroppedFlow);
    tell_drop(call, seen, EventDropReason::kFlow);
    call.batch.drop(seen.packet, call.reason(IdsReason::kRule));
    return true;
  }

  static bool has_stream(const IdsTables* tables, const Seen& seen) noexcept {
    return tables != nullptr && seen.tuple != nullptr &&
           tables->streams.find(*seen.tuple) != nullptr;
  }

  void look(const FinishContext& call, IdsTables* tables, const Seen& seen) noexcept {
    PacketView view = view_of(call, seen);
    costs_.begin_packet(call, view, is_of_batch(seen));
    if (hides_what_it_carries(seen, settings_.fragments) && !settings_.only_watches) {
      hit(call, IdsCounter::kHidden);
      tell_drop(call, seen, EventDropReason::kHidden);
      return call.batch.drop(seen.packet, call.reason(IdsReason::kConflict));
    }
    const bool is_part = is_put_together(seen.headers, settings_.fragments);
    const bool is_tcp = seen.headers.protocol == kTcp && !is_part;
    StreamTable* const table = tables == nullptr ? nullptr : &tables->streams;
    matched_.clear();
    log_.begin();
    if (is_tcp && settings_.only_watches) read_behind_holes(call, tables, seen);
    const bool had_stream = is_tcp && begins_connection(seen) && has_stream(tables, seen);
    const TcpStreams::Taken taken =
        is_tcp ? streams_.take(call, table, segment_of(call, seen, settings_.overlaps))
               : TcpStreams::Taken{};
    if (had_stream && !has_stream(tables, seen)) {  // both sides begin another one
      memory_.end_record();
      watch_.forget(*seen.tuple);
    }
    const bool is_refused = taken.fate == TcpStreams::Fate::kRefused;
    if (is_refused && !taken.is_unread && !settings_.only_watches) {
      return drop_for(call, seen, taken.counter);
    }
    std::optional<KeptHistory> history;
    view.is_unread = taken.is_unread;
    if (!is_part) view.payload = rule_payload(seen.frame, seen.headers);
    view.is_clean = !view.payload.empty() && is_hinted_clean(call, seen, view, literals_);
    if (view.is_clean) hit(call, IdsCounter::kClean);
    if (tables != nullptr && !taken.offer.text.empty()) {
      view.history = &history.emplace(streams_, tables->streams, taken.offer);
      history->is_clean = view.is_clean && ends_with_new_of(view.payload, taken.offer);
    }
    if (is_tcp) {
      look_at_segment(call, tables, seen, taken, view);
    } else {
      look_at_datagram(call, tables, seen, view);
    }
    const bool goes_on = seen.layer == Seen::Layer::kPacket && !call.batch.is_dropped(seen.packet);
    if (goes_on) streams_.pass(call, seen.frame, seen.headers);  // rules have seen its flags
  }

  /// Of flows that `flow` has, not of those in tunnels.
  void read_behind_holes(const FinishContext& call, IdsTables* tables, const Seen& seen) noexcept {
    if (tables == nullptr || !is_of_batch(seen)) return;
    const PacketView view = view_of(call, seen);
    holes_.read(call, *tables, seen.packet, {view, *seen.tuple, memory_, matched_, log_});
  }

  void look_at_segment(const FinishContext& call, IdsTables* tables, const Seen& seen,
                       const TcpStreams::Taken& taken, PacketView& view) noexcept {
    const bool has_text = view.history != nullptr;
    FlowRecord* const record = has_text ? memory_.need_record() : memory_.record();
    if (has_text && record == nullptr && !settings_.only_watches) {
      streams_.refuse_for_room(call);
      return drop_for(call, seen, StreamCounter::kNoRoom);
    }
    if (record != nullptr) {
      MILLRACE_CHECK(tables != nullptr && seen.tuple != nullptr);
      const WatchedPacket watched{view, *seen.tuple, memory_, matched_, log_};
      if (has_text) watch_.read(watched, *tables, *record, taken.offer);
      view.app = watch_.protocol_of(*seen.tuple, record);
      view.is_recognised = has_text && watch_.has_recognised();
      view.rules = watch_.rules_of(*seen.tuple, view.direction);
      detector_.look_at_packet(view, memory_, matched_);
      if (has_text) watch_.look_at_stream(watched, taken.offer, *view.history);
      detector_.conclude_packet(view, memory_, matched_);
      look_at_end(watched, *tables, *record, seen, taken);
    } else {
      detector_.look_at_packet(view, memory_, matched_);
      detector_.conclude_packet(view, memory_, matched_);
    }
    if (!conclude(call, tables, seen, view)) return;
    if (view.is_unread && !settings_.only_watches) return drop_for(call, seen, taken.counter);
    if (tables == nullptr || seen.tuple == nullptr) return;
    // Its stream would begin with it: nothing that is read on is lost.
    if (taken.fate == TcpStreams::Fate::kOffered &&
        !streams_.commit(call, tables->streams, taken)) {
      watch_.forget(*seen.tuple);
      if (!settings_.only_watches) drop_for(call, seen, StreamCounter::kNoRoom);
      return;
    }
    log_.tell(call.events, seen.packet, *seen.tuple);
    if (record != nullptr) watch_.settle(*seen.tuple, *tables, *record);
  }

  /// Streams that are through, and one that may be with this packet.
  void look_at_end(const WatchedPacket& watched, IdsTables& tables, FlowRecord& record,
                   const Seen& seen, const TcpStreams::Taken& taken) noexcept {
    for (std::uint8_t direction = 0; direction < 2; ++direction) {
      const auto& until = seen.flow.acknowledged[direction];
      if (until) watch_.end(watched, tables, record, direction, *until);
    }
    const std::span<const std::byte> frame = watched.view.frame;
    if (taken.fate == TcpStreams::Fate::kRefused || !is_tcp_fin(frame, seen.headers)) return;
    if (!settings_.trusts_checksums && !has_good_tcp_checksum(frame, seen.headers)) return;
    const auto bytes = static_cast<std::uint32_t>(tcp_data(frame, seen.headers).size());
    watch_.note_fin(watched, tcp_sequence(frame, seen.headers) + bytes);
  }

  void look_at_datagram(const FinishContext& call, IdsTables* tables, const Seen& seen,
                        PacketView& view) noexcept {
    if (seen.has_flow && seen.headers.protocol == kUdp && !seen.headers.fragment) {
      MILLRACE_CHECK(seen.tuple != nullptr);
      watch_.read_datagram({view, *seen.tuple, memory_, matched_, log_});
      view.app = watch_.protocol_of(*seen.tuple, memory_.record());
    }
    detector_.look_at_packet(view, memory_, matched_);
    conclude(call, tables, seen, view);
    if (seen.tuple != nullptr) log_.tell(call.events, seen.packet, *seen.tuple);
  }

  /// What the rules that have matched do, and what was given up. True: the packet passes, and its
  /// flow is looked at on.
  bool conclude(const FinishContext& call, IdsTables* tables, const Seen& seen,
                const PacketView& view) noexcept {
    const AlertedPacket alerted{.packet = seen.packet,
                                .direction = direction_of(seen),
                                .app = view.app,
                                .payload = view.payload,
                                .log = &log_,
                                .inner = seen.layer == Seen::Layer::kPacket ? nullptr : &view,
                                .depth = seen.depth};
    const IdsCosts::Verdict costs = costs_.end_packet(call);
    IdsVerdict verdict = verdicts_.apply(call, alerted, view.tuple, memory_, matched_);
    memory_.keep();
    if (!verdict.drops && costs.drops(verdict.pass)) {
      drop_costly(call, tables, seen, costs.fate, view.payload.empty());
      return false;
    }
    const bool is_lost = (costs.is_lost && seen.headers.protocol == kTcp) ||
                         (verdict.drops && loses_parser(tables, seen));
    if (is_lost && verdict.of_flow == FlowFate::kNone) verdict.of_flow = FlowFate::kDropped;
    if (verdict.of_flow != FlowFate::kNone) {  // nothing brings its transactions again
      if (seen.tuple != nullptr) log_.tell(call.events, seen.packet, *seen.tuple);
      decide(call, tables, seen, verdict.of_flow);
    }
    if (verdict.drops) tell_drop(call, seen, EventDropReason::kRule, verdict.rule);
    const bool is_reset = verdict.resets && seen.layer == Seen::Layer::kPacket &&
                          turn_into_reset(call.batch, seen.packet, seen.headers,
                                          seen.flow.acknowledged[seen.flow.direction]);
    if (is_reset) hit(call, IdsCounter::kReset);
    if (verdict.drops && !is_reset) call.batch.drop(seen.packet, call.reason(IdsReason::kRule));
    return !verdict.drops && verdict.of_flow == FlowFate::kNone;
  }

  /// Without room for a record, each packet that brings the same is decided by itself.
  void decide(const FinishContext& call, IdsTables* tables, const Seen& seen,
              FlowFate fate) noexcept {
    if (fate == FlowFate::kDropped && is_of_batch(seen)) call.flows->keep(seen.flow.flow);
    FlowRecord* const record = memory_.need_record();
    if (record == nullptr || tables == nullptr || seen.tuple == nullptr) return;
    tables->records.change_fate(*record);
    record->fate = fate;
    tables->streams.end(*seen.tuple);
    watch_.forget(*seen.tuple);
  }

  void tell_drop(const FinishContext& call, const Seen& seen, EventDropReason reason,
                 std::optional<std::uint32_t> rule = {}) noexcept {
    log_.drop(call, {seen.packet, direction_of(seen), reason, rule, seen.inner(), seen.headers});
  }

  /// Where it is dropped by itself, nothing reads on what its flow carries: that would pass unseen.
  bool loses_parser(const IdsTables* tables, const Seen& seen) noexcept {
    return tables != nullptr && seen.tuple != nullptr && seen.headers.protocol == kTcp &&
           !watch_.is_kept(*seen.tuple, *tables);
  }

  /// Of packets without a connection each stands for itself: their sources may be made up. One that
  /// brings nothing has ended a stream, and the next one that acknowledges it would not.
  void drop_costly(const FinishContext& call, IdsTables* tables, const Seen& seen,
                   IdsCosts::Fate fate, bool is_empty) noexcept {
    const bool is_tcp = seen.headers.protocol == kTcp;
    if ((is_tcp && (fate == IdsCosts::Fate::kConnection || is_empty)) ||
        loses_parser(tables, seen)) {
      decide(call, tables, seen, FlowFate::kDropped);
    }
    tell_drop(call, seen, EventDropReason::kRule);  // without one: which would match is not known
    call.batch.drop(seen.packet, call.reason(IdsReason::kCostly));
  }

  void drop_for(const FinishContext& call, const Seen& seen, StreamCounter counter) noexcept {
    const bool is_full = counter == StreamCounter::kNoRoom;
    tell_drop(call, seen, is_full ? EventDropReason::kStreamFull : EventDropReason::kStream);
    call.batch.drop(seen.packet, call.reason(is_full ? IdsReason::kFull : IdsReason::kConflict));
  }

  IdsSettings settings_;
  IdsImage image_;
  std::uint32_t literals_;  ///< fingerprint of those that a hint is of
  Detector detector_;
  IdsCosts costs_;
  FlowWatch watch_;
  PacketMemory memory_;
  IdsVerdicts verdicts_;
  IdsLog log_;
  IdsLane lane_;
  PacketLayers layers_;
  TcpStreams streams_;
  HoleReader holes_{streams_, watch_};
  std::vector<MatchedRule> matched_;
  std::uint32_t now_s_ = 0;  ///< of the last batch
};

}  // namespace

std::unique_ptr<Function> make_ids(const FunctionContext& context) {
  return std::make_unique<Ids>(context);
}

}  // namespace millrace
