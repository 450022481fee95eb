// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/function_rows.hpp"
#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/stream/stream_table.hpp"
#include "services/functions/stream/tcp_data.hpp"
#include "services/functions/streams/streams_lane.hpp"
#include "services/functions/streams/streams_settings.hpp"
#include "services/functions/streams/told_bytes.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

/// A segment of a connection, as it was read.
struct Segment {
  const SeenPacket& seen;
  const FlowTuple& tuple;  ///< of direction 0
  std::uint32_t sequence;  ///< of its first byte of data
  std::optional<std::uint32_t> acknowledges;
  std::span<const std::byte> data;
  bool is_syn, is_fin;

  std::uint8_t direction() const noexcept { return seen.flow.direction; }
};

StreamEvent event_of(const ToldStream& stream, StreamStep step) noexcept {
  return {.position = {},
          .begun_tsc = EventCount(stream.begun_tsc),
          .bytes = {},
          .lost = {},
          .connection = stream.connection,
          .step = step,
          .direction = 0,
          .is_picked_up = {stream.side[0].is_picked_up, stream.side[1].is_picked_up},
          .padding = {},
          .texts = 0};
}

void tell_end(const EventWriter& events, const ToldStream& stream) noexcept {
  if (stream.connection == 0) return;
  StreamEvent event = event_of(stream, StreamStep::kEnd);
  for (std::size_t side = 0; side < 2; ++side) {
    event.bytes[side] = EventCount(stream.side[side].seen);
    event.lost[side] = EventCount(stream.side[side].lost);
  }
  events.stream(stream.tuple, event);
}

bool is_told_of(const ToldStream& stream) noexcept {
  return !stream.side[0].is_empty() || !stream.side[1].is_empty();
}

class Streams final : public Function {
 public:
  explicit Streams(const FunctionContext& context)
      : settings_(streams_settings(context.function.settings)),
        lane_(settings_.streams),
        layers_({.puts_together = true,
                 .drops = false,
                 .checks_checksums = !settings_.trusts_checksums}) {}

  void compute(const Batch& /*batch*/, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) results[packet] = 0;
  }

  void finish(const FinishContext& call) noexcept override {
    if (!call.events.on()) return;
    std::optional<StreamsTables> tables = lane_.tables_of(call.state, call.facts);
    if (!tables) return;
    for (const std::uint16_t packet : call.selected.packets) {
      layers_.begin(call, {&tables->fragments, &tables->inner_flows}, packet);
      do {
        read(call, *tables, layers_.seen());
      } while (go_in(call, *tables));
      layers_.settle(true);
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
  static void hit(const FinishContext& call, StreamsCounter counter) noexcept {
    call.counters.hit(static_cast<std::size_t>(counter));
  }
  static void end_stream(const EventWriter& events, StreamsTables& tables,
                         const FlowTuple& tuple) noexcept {
    ToldStream* const stream = tables.streams.find(tuple);
    if (stream == nullptr) return;
    tell_end(events, *stream);
    tables.streams.end(*stream);
  }
  void end_stream(const StateOfFunction& own, const FlowTuple& tuple) const noexcept {
    if (tuple.protocol != kTcp) return;
    if (auto tables = lane_.laid_out(own.state)) end_stream(own.events, *tables, tuple);
  }

  bool go_in(const FinishContext& call, StreamsTables& tables) noexcept {
    const PacketLayers::Next next = layers_.next();
    for (const FlowTuple& ended : layers_.ended()) end_stream(call.events, tables, ended);
    if (next == PacketLayers::Next::kRefused || next == PacketLayers::Next::kFull) {
      hit(call, StreamsCounter::kUnread);
    }
    return next == PacketLayers::Next::kMore;
  }

  /// Data that `flow` does not take: what begins with its end is picked up like others that are met
  /// in their middle, and where one direction alone comes by, nothing speaks against it.
  SeenPacket with_flow(const FinishContext& call, StreamsTables& tables,
                       const SeenPacket& from) const noexcept {
    SeenPacket seen = from;
    if (seen.has_flow || seen.layer == SeenPacket::Layer::kCarried || !settings_.picks_up) {
      return seen;
    }
    if (seen.flow.flow != kNoFlow) {
      seen.has_flow = call.flows->own(seen.flow.flow).answered == 0 && seen.flow.direction == 0;
      seen.tuple = &call.flows->tuple(seen.flow.flow, 0);
      return seen;
    }
    const auto tuple = flow_tuple_of(seen.frame, seen.headers);
    if (!tuple || seen.flow.state != FlowState::kInvalid) return seen;
    const InnerFlows::Followed followed =
        tables.inner_flows.follow(seen.frame, seen.headers, *tuple,
                                  static_cast<std::uint32_t>(call.facts.now_ns / kNsPerSecond));
    for (std::uint32_t i = 0; i < followed.ended_count; ++i) {
      end_stream(call.events, tables, followed.ended[i]);
    }
    seen.flow = followed.flow;
    seen.flow.is_picked_up = true;
    seen.tuple = followed.tuple;
    seen.has_flow = seen.tuple != nullptr;
    return seen;
  }

  void read(const FinishContext& call, StreamsTables& tables, const SeenPacket& from) noexcept {
    const PacketHeaders& headers = from.headers;
    if (headers.protocol != kTcp || headers.fragment) return;
    if (headers.status != ParseStatus::kOk || headers.payload_offset == 0) {
      return hit(call, StreamsCounter::kUnread);
    }
    const std::span<const std::byte> data = tcp_data(from.frame, headers);
    const bool is_syn = is_tcp_syn(from.frame, headers), is_fin = is_tcp_fin(from.frame, headers);
    if (data.empty() && !((is_syn || is_fin) && from.has_flow)) return;
    if (is_tcp_reset(from.frame, headers)) return hit(call, StreamsCounter::kNoFlow);
    const SeenPacket seen = with_flow(call, tables, from);
    if (!seen.has_flow) return hit(call, StreamsCounter::kNoFlow);
    if (!settings_.trusts_checksums && !has_good_tcp_checksum(seen.frame, headers)) {
      return hit(call, StreamsCounter::kChecksum);
    }
    const Segment segment{.seen = seen,
                          .tuple = *seen.tuple,
                          .sequence = tcp_sequence(seen.frame, headers) + (is_syn ? 1 : 0),
                          .acknowledges = tcp_acknowledgment(seen.frame, headers),
                          .data = data,
                          .is_syn = is_syn,
                          .is_fin = is_fin};
    ToldStream* stream = tables.streams.find(segment.tuple);
    if (stream == nullptr) {
      if (data.empty() && !is_syn) return;  // nothing that ends
      stream = tables.streams.begin(segment.tuple);
      if (stream == nullptr) return hit(call, StreamsCounter::kNoRoom);
      stream->begun_tsc = call.batch.header->time_first_tsc;
    }
    ToldStream& changed = call.state.change(*stream);
    if (is_syn) shake_hands(call, changed, segment);
    if (!data.empty()) tell(call, tables, changed, segment);
    if (is_fin) note_fin(changed.side[segment.direction()], segment);
  }

  static void note_fin(ToldBytes& told, const Segment& segment) noexcept {
    if (told.has_fin != 0) return;
    told.fin = segment.sequence + static_cast<std::uint32_t>(segment.data.size());
    told.has_fin = 1;
  }

  /// How many bytes of the segment are the stream's. Behind a FIN that the receiver has
  /// acknowledged none is: what probes whether the other side is still there (RFC 9293 3.8.4)
  /// stands at the FIN's own place.
  static std::uint32_t bytes_of_stream(const ToldBytes& told, const Segment& segment) noexcept {
    const auto bytes = static_cast<std::uint32_t>(segment.data.size());
    const auto& acknowledged = segment.seen.flow.acknowledged[segment.direction()];
    const bool has_ended =
        told.has_fin != 0 && acknowledged && sequence_distance(told.fin, *acknowledged) > 0;
    if (!has_ended) return bytes;
    const std::int32_t in_front = sequence_distance(segment.sequence, told.fin);
    return std::min(bytes, static_cast<std::uint32_t>(std::max(in_front, 0)));
  }

  /// Another connection with the same addresses and ports, which `flow` takes for the same one.
  static void restart(const FinishContext& call, ToldStream& stream) noexcept {
    tell_end(call.events, stream);
    stream.connection = 0;
    stream.begun_tsc = call.batch.header->time_first_tsc;
    stream.side[0] = stream.side[1] = {};
  }

  /// What a SYN says of where streams begin. One of another number than before is believed when the
  /// other side answers it, or nothing has been told so far.
  static void shake_hands(const FinishContext& call, ToldStream& stream,
                          const Segment& segment) noexcept {
    const std::uint8_t own = segment.direction();
    const std::uint8_t peer = 1 - own;
    if (segment.acknowledges) {
      const ToldBytes& asking = stream.side[peer];
      const bool is_other = asking.has_asked != 0 && asking.asked == *segment.acknowledges;
      if (is_other && is_told_of(stream)) restart(call, stream);
      if (is_other || asking.is_known == 0) {
        begin_told(stream.side[peer], *segment.acknowledges);
      }
    }
    ToldBytes& told = stream.side[own];
    if (told.is_known == 0 || !is_told_of(stream)) return begin_told(told, segment.sequence);
    if (told.start == segment.sequence && told.is_picked_up == 0) return;
    told.asked = segment.sequence;
    told.has_asked = 1;
  }

  /// Where the stream of the first data begins. False: it is not to be told of.
  bool begin(ToldBytes& told, const Segment& segment) const noexcept {
    const PacketFlow& flow = segment.seen.flow;
    const auto& acknowledged = flow.acknowledged[segment.direction()];
    const bool is_seen = !flow.is_picked_up && acknowledged &&
                         sequence_distance(*acknowledged, segment.sequence) >= 0;
    if (is_seen) {
      begin_told(told, *acknowledged);
    } else if (settings_.picks_up) {
      pick_up_told(told, segment.sequence);
    }
    return is_seen || settings_.picks_up;
  }

  void tell(const FinishContext& call, StreamsTables& tables, ToldStream& stream,
            const Segment& segment) noexcept {
    ToldBytes& told = stream.side[segment.direction()];
    if (told.is_known == 0 && !begin(told, segment)) return hit(call, StreamsCounter::kMidstream);
    std::array<NewBytes, kNewBytesMax> pieces;
    const std::uint32_t bytes = bytes_of_stream(told, segment);
    const std::size_t count =
        bytes == 0 ? 0
                   : tell_bytes(told, segment.sequence, bytes, settings_.depth,
                                segment.seen.flow.acknowledged[segment.direction()], pieces);
    hit(call, count == 0 ? StreamsCounter::kSeen : StreamsCounter::kTold);
    if (count == 0) return;
    if (stream.connection == 0) {
      stream.connection = ++tables.streams.change_own().connections;
    }
    const std::uint64_t lost = told.lost;
    for (const NewBytes& piece : std::span(pieces).first(count)) {
      tell_piece(call, stream, segment, piece);
    }
    if (told.lost != lost) hit(call, StreamsCounter::kLost);
  }

  static void tell_piece(const FinishContext& call, ToldStream& stream, const Segment& segment,
                         const NewBytes& piece) noexcept {
    StreamEvent event = event_of(stream, StreamStep::kData);
    event.direction = segment.direction();
    std::span<const std::byte> rest = segment.data.subspan(piece.offset, piece.bytes);
    for (std::uint64_t at = piece.position; !rest.empty();) {
      const auto text = rest.first(std::min(rest.size(), kEventTextBytesMax));
      event.position = EventCount(at);
      if (!call.events.stream(stream.tuple, event, text)) {
        stream.side[event.direction].lost += text.size();
      }
      at += text.size();
      rest = rest.subspan(text.size());
    }
  }

  StreamsSettings settings_;
  StreamsLane lane_;
  PacketLayers layers_;
};

LaneNeeds needs_of(const LaneRequest& request) {
  return StreamsLane::needs_of(streams_settings(request.settings).streams, request);
}

void check_streams(const PlanFunction& function) { streams_settings(function.settings); }

std::string asks_for_events(const PlanFunction& /*function*/) { return "folder"; }

}  // namespace

FunctionType streams_type() {
  FunctionType type;
  type.traits = {.type = "streams",
                 .summary = "bytes of TCP connections into files, one a direction; all pass",
                 .regions = kReadsHeaders,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .counter_count = static_cast<std::uint32_t>(StreamsCounter::kCount),
                 .settings = known_streams_settings()};
  type.make = make_function<Streams>;
  type.build = nullptr;
  type.check = check_streams;
  type.asks_for_events = asks_for_events;
  return type;
}

}  // namespace millrace
