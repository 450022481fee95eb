// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_watch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/flow/same_tuple.hpp"
#include "services/functions/ids/protocols/app_probe.hpp"
#include "services/functions/ids/work_budget.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLooksOfReplay = 512;
constexpr std::size_t kDatagramShare = 8;
constexpr std::uint32_t kConnectsAhead = 4;

/// Shows transactions to the detector, and to the log.
class Sink final : public TransactionSink {
 public:
  /// `log`: null: they have been told of before.
  Sink(Detector& detector, const PacketView& view, PacketMemory& memory,
       std::vector<MatchedRule>& matched, IdsLog* log)
      : detector_(detector),
        view_(view),
        memory_(memory),
        matched_(matched),
        log_(log != nullptr && log->has_apps() ? log : nullptr) {}
  void on_news(Transaction& transaction, std::uint8_t direction) noexcept override {
    view_.app = transaction.protocol();
    const std::size_t before = matched_.size();
    detector_.look_at_transaction(view_, transaction, direction, memory_, matched_);
    if (log_ == nullptr) return;
    if (matched_.size() != before) log_->note_matched(transaction, direction);
    log_->note(transaction, direction);
  }

 private:
  Detector& detector_;
  PacketView view_;
  PacketMemory& memory_;
  std::vector<MatchedRule>& matched_;
  IdsLog* log_;
};

/// Shows transactions to the log alone.
class LogSink final : public TransactionSink {
 public:
  explicit LogSink(IdsLog& log) : log_(log) {}
  void on_news(Transaction& transaction, std::uint8_t direction) noexcept override {
    log_.note(transaction, direction);
  }

 private:
  IdsLog& log_;
};

class KnownText final : public StreamHistory {
 public:
  explicit KnownText(const BufferValue& text) : text_(text) {}
  BufferValue whole() noexcept override { return text_; }

 private:
  BufferValue text_;
};

/// The packet as one of that direction would be that brings nothing itself.
PacketView turned(const WatchedPacket& packet, std::uint8_t direction) noexcept {
  PacketView view = packet.view;
  view.payload = {};
  view.history = nullptr;
  view.rules = nullptr;
  if (view.direction == direction) return view;
  view.direction = direction;
  view.tuple = reversed(view.tuple);
  return view;
}

std::array<std::uint64_t, 2> positions_of(const Stream* stream) noexcept {
  if (stream == nullptr) return {};
  return {stream->position(0), stream->position(1)};
}

std::array<std::uint32_t, 2> starts_of(const Stream* stream) noexcept {
  if (stream == nullptr) return {};
  return {stream->side[0].start, stream->side[1].start};
}

/// It is what the lane's state says.
bool fits(const CachedFlow& flow, const FlowRecord& record, const Stream* stream) noexcept {
  return flow.id == record.id && flow.position == positions_of(stream) &&
         flow.start == starts_of(stream);
}

}  // namespace

FlowWatch::FlowWatch(Detector& detector, const AppLimits& limits, const Memory& memory,
                     bool logs_apps, const BlockedApps& blocked)
    : detector_(detector),
      reads_apps_(logs_apps || detector.wants_transactions()),
      limits_(limits),
      blocked_(blocked),
      history_(memory.history),
      cache_(kFlowsMax, memory.parsers),
      datagrams_(kDatagramFlowsMax, memory.parsers / kDatagramShare) {
  kept_.reserve(history_);
  limits_.pool = &pool_;
  limits_.tells_events = detector.wants_events();
  if (blocked_.has(AppProtocol::kHttp, 0)) limits_.connects_ahead = kConnectsAhead;
}

CachedFlow& FlowWatch::ready(const WatchedPacket& packet, IdsTables& tables,
                             FlowRecord& record) noexcept {
  const Stream* const stream = tables.streams.find(packet.tuple);
  const auto positions = positions_of(stream);
  CachedFlow* const there = cache_.find(packet.tuple);
  grown_ = there;
  if (there != nullptr && fits(*there, record, stream)) return *there;
  const bool has_made_room = there != nullptr ? there->has_made_room : cache_.replaced() != 0;
  CachedFlow& flow = cache_.begin(packet.tuple);
  grown_ = &flow;
  flow.id = record.id;
  flow.position = positions;
  flow.start = starts_of(stream);
  if (record.settled[0] > positions[0] || record.settled[1] > positions[1]) {
    // The stream has begun anew.
    tables.records.change_parser(record);
    record.settled[0] = record.settled[1] = record.transactions = 0;
    record.protocol = record.is_over = 0;
  }
  packet.memory.mute(true);
  if (record.is_over == 0 && reads_apps_) {
    make_session(packet, tables, record, stream, flow);
    if (has_made_room && record.is_over != 0) tell_lost();
  }
  if (stream != nullptr && detector_.wants_streams()) {
    for (std::uint8_t direction = 0; direction < 2; ++direction) {
      make_pending(packet, tables, *stream, direction, flow);
    }
  }
  packet.memory.mute(false);
  return flow;
}

/// Hands it what lies behind the last transaction that is through.
void FlowWatch::make_session(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                             const Stream* stream, CachedFlow& flow) noexcept {
  flow.base = {record.settled[0], record.settled[1]};
  const auto protocol = static_cast<AppProtocol>(record.protocol);
  if (record.transactions == 0 && flow.base == std::array<std::uint64_t, 2>{}) {
    flow.session.emplace(limits_);
  } else {
    flow.session.emplace(limits_, protocol, record.transactions);
  }
  if (stream == nullptr) return;
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    const KeptBytes kept(tables.streams, *stream, direction, record.settled[direction]);
    if (!kept.is_whole()) return lose_parser(tables, record, flow);
  }
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    read_kept(packet, KeptBytes(tables.streams, *stream, direction, record.settled[direction]),
              direction, flow);
  }
}

void FlowWatch::read_kept(const WatchedPacket& packet, KeptBytes kept, std::uint8_t direction,
                          CachedFlow& flow) noexcept {
  known_.clear();
  Sink sink(detector_, turned(packet, direction), packet.memory, known_, nullptr);
  for (auto bytes = kept.next(); !bytes.empty(); bytes = kept.next()) {
    flow.session->read(direction, bytes, packet.tuple.destination_port, sink);
  }
}

std::uint64_t FlowWatch::keep_last(const IdsTables& tables, const Stream& stream,
                                   std::uint8_t direction, std::uint64_t end) noexcept {
  const std::uint64_t from = std::max(KeptBytes::begin(tables.streams, stream, direction),
                                      end - std::min<std::uint64_t>(end, history_));
  kept_.clear();
  KeptBytes kept(tables.streams, stream, direction, from);
  for (auto bytes = kept.next(); !bytes.empty(); bytes = kept.next()) {
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
  }
  return from;
}

void FlowWatch::make_pending(const WatchedPacket& packet, IdsTables& tables, const Stream& stream,
                             std::uint8_t direction, CachedFlow& flow) noexcept {
  const std::uint64_t from = keep_last(tables, stream, direction, flow.position[direction]);
  if (kept_.empty()) return;
  PacketView view = turned(packet, direction);
  view.app = flow.session ? flow.session->protocol() : view.app;
  Replayed replayed{view, packet.memory, from, kLooksOfReplay, flow.pending[direction]};
  replay(replayed, 0, kept_.size());
}

/// A rule that matches in a piece waits for nothing behind it. What begins behind a match, as the
/// segments of the stream had it, is to wait: so a piece with a match is cut until the match ends
/// it.
void FlowWatch::replay(Replayed& replayed, std::size_t from, std::size_t to) noexcept {
  const PendingRules before = replayed.pending;
  const std::span<const std::byte> kept = std::span(kept_).first(to);
  const std::size_t carried = std::min<std::size_t>(from, detector_.carry());
  const BufferValue text{.bytes = kept.subspan(from - carried),
                         .base = replayed.base + from - carried,
                         .seen = static_cast<std::uint32_t>(carried),
                         .is_complete = false};
  KnownText history({.bytes = kept,
                     .base = replayed.base,
                     .seen = static_cast<std::uint32_t>(from),
                     .is_complete = false});
  known_.clear();
  detector_.look_at_stream(replayed.view, text, history, replayed.pending, replayed.memory, known_);
  if (known_.empty() || to - from == 1 || replayed.looks < 2) return;
  replayed.looks -= 2;
  replayed.pending = before;
  const std::size_t middle = from + (to - from) / 2;
  replay(replayed, from, middle);
  replay(replayed, middle, to);
}

void FlowWatch::read(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                     const StreamReader::Offer& offer) noexcept {
  CachedFlow& flow = ready(packet, tables, record);
  const std::uint8_t direction = packet.view.direction;
  if (offer.position < flow.position[direction]) begin_anew(packet, tables, record, flow);
  if (offer.position != flow.position[direction]) {  // a hole was given up
    note_rest(flow, packet.log);
    lose_parser(tables, record, flow);
    flow.pending[direction].clear();
  }
  flow.position[direction] = offer.position + (offer.text.size() - offer.carry);
  has_recognised_ = false;
  if (!flow.session) return tell_unread(record, direction);
  const bool was_known = flow.session->protocol() != AppProtocol::kUnknown;
  const bool was_broken = is_given_up(*flow.session, direction);
  const std::array<bool, 2> were_broken{flow.session->is_broken(0), flow.session->is_broken(1)};
  Sink sink(detector_, packet.view, packet.memory, packet.matched, &packet.log);
  flow.session->read(direction, offer.text.subspan(offer.carry), packet.tuple.destination_port,
                     sink);
  if (!was_broken && is_given_up(*flow.session, direction)) {
    packet.log.note_unreadable(flow.session->protocol(), direction);
  }
  tell_broken(*flow.session, were_broken);
  has_recognised_ =
      flow.session->protocol() != AppProtocol::kUnknown && (!was_known || offer.position == 0);
}

void FlowWatch::look_at_stream(const WatchedPacket& packet, const StreamReader::Offer& offer,
                               StreamHistory& history) noexcept {
  CachedFlow* const flow = cache_.find(packet.tuple);
  if (flow == nullptr || !detector_.wants_streams()) return;
  detector_.look_at_stream(packet.view,
                           {.bytes = offer.text,
                            .base = offer.position - offer.carry,
                            .seen = offer.carry,
                            .is_complete = false},
                           history, flow->pending[packet.view.direction], packet.memory,
                           packet.matched);
}

void FlowWatch::settle(const FlowTuple& tuple, IdsTables& tables, FlowRecord& record) noexcept {
  CachedFlow* const flow = cache_.find(tuple);
  if (flow == nullptr || flow->id != record.id) return;
  flow->start = starts_of(tables.streams.find(tuple));
  if (!flow->session) return;
  const AppSession& session = *flow->session;
  const std::array<std::uint64_t, 2> settled{flow->base[0] + session.settled(0),
                                             flow->base[1] + session.settled(1)};
  const auto protocol = static_cast<std::uint8_t>(session.protocol());
  const std::uint8_t is_over = session.is_done() ? 1 : 0;
  if (settled[0] != record.settled[0] || settled[1] != record.settled[1] ||
      session.transactions() != record.transactions || protocol != record.protocol ||
      is_over != record.is_over) {
    tables.records.change_parser(record);
    std::ranges::copy(settled, record.settled);
    record.transactions = session.transactions();
    record.protocol = protocol;
    record.is_over = is_over;
  }
  if (is_over != 0) flow->session.reset();
}

FlowCache& FlowWatch::cache_of(const FlowTuple& tuple) noexcept {
  return tuple.protocol == ip_protocol::kTcp ? cache_ : datagrams_;
}

FlowRules* FlowWatch::rules_of(const FlowTuple& tuple, std::uint8_t direction) noexcept {
  CachedFlow* const flow = cache_.find(tuple);
  return flow == nullptr ? nullptr : &flow->rules[direction];
}

void FlowWatch::forget(const FlowTuple& tuple) noexcept {
  cache_of(tuple).forget(tuple);
  if (grown_ != nullptr && is_same_tuple(grown_->tuple, tuple)) grown_ = nullptr;
}

void FlowWatch::make_room() noexcept {
  if (grown_ != nullptr) cache_of(grown_->tuple).weigh(*grown_);
  grown_ = nullptr;
}

bool FlowWatch::is_kept(const FlowTuple& tuple, const IdsTables& tables) noexcept {
  const FlowRecord* const record = tables.records.find(tuple);
  if (!reads_apps_ || record == nullptr || record->is_over != 0) return true;
  const Stream* const stream = tables.streams.find(tuple);
  if (stream == nullptr) return true;
  const CachedFlow* const there = cache_.find(tuple);
  if (there != nullptr && fits(*there, *record, stream)) return true;
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    const KeptBytes kept(tables.streams, *stream, direction, record->settled[direction]);
    if (!kept.is_whole()) return false;
  }
  return true;
}

void FlowWatch::note_rest(const FlowTuple& tuple, const IdsTables& tables, IdsLog& log) noexcept {
  CachedFlow* const flow = cache_.find(tuple);
  const FlowRecord* const record = tables.records.find(tuple);
  if (flow == nullptr || record == nullptr || flow->id != record->id || !flow->session) return;
  if (flow->position != positions_of(tables.streams.find(tuple))) return;
  log.begin();
  note_rest(*flow, log);
}

void FlowWatch::note_rest(CachedFlow& flow, IdsLog& log) noexcept {
  if (!flow.session || !log.has_apps()) return;
  LogSink sink(log);
  for (std::uint8_t direction = 0; direction < 2; ++direction) flow.session->end(direction, sink);
}

void FlowWatch::note_fin(const WatchedPacket& packet, std::uint32_t sequence) noexcept {
  CachedFlow* const flow = cache_.find(packet.tuple);
  if (flow == nullptr) return;
  flow->fin[packet.view.direction] = sequence;
}

void FlowWatch::end(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                    std::uint8_t direction, std::uint32_t sequence) noexcept {
  CachedFlow* const there = cache_.find(packet.tuple);
  if (there == nullptr || there->fin[direction] != sequence - 1) return;
  CachedFlow& flow = ready(packet, tables, record);
  flow.fin[direction].reset();
  if (static_cast<std::uint32_t>(flow.position[direction]) + flow.start[direction] !=
      sequence - 1) {
    return;
  }
  const PacketView view = turned(packet, direction);
  if (flow.session) {
    Sink sink(detector_, view, packet.memory, packet.matched, &packet.log);
    flow.session->end(direction, sink);
  }
  if (!detector_.wants_streams()) return;
  const BufferValue none{.bytes = {}, .base = flow.position[direction], .is_complete = true};
  BufferValue whole = none;
  if (const Stream* const stream = tables.streams.find(packet.tuple)) {
    whole.base = keep_last(tables, *stream, direction, flow.position[direction]);
    whole.bytes = kept_;
  }
  KnownText history(whole);
  detector_.look_at_stream(view, none, history, flow.pending[direction], packet.memory,
                           packet.matched);
}

void FlowWatch::read_datagram(const WatchedPacket& packet) noexcept {
  if (!reads_apps_ || packet.view.payload.empty()) return;
  CachedFlow* flow = datagrams_.find(packet.tuple);
  const bool is_gone = flow != nullptr ? flow->has_made_room : datagrams_.replaced() != 0;
  const auto [direction, port] = std::pair(packet.view.direction, packet.tuple.destination_port);
  const AppProtocol carried =
      is_gone ? probe_datagram(direction, packet.view.payload, port) : AppProtocol::kNone;
  const bool answers_unknown = carried == AppProtocol::kDns && direction == 1;
  if (answers_unknown) tell_lost();
  if (flow == nullptr || is_gone) flow = &datagrams_.begin(packet.tuple);
  flow->has_made_room |= answers_unknown || carried == AppProtocol::kUnknown;
  grown_ = flow;
  if (!flow->session) flow->session.emplace(limits_);
  Sink sink(detector_, packet.view, packet.memory, packet.matched, &packet.log);
  flow->session->read_datagram(packet.view.direction, packet.view.payload,
                               packet.tuple.destination_port, sink);
}

AppProtocol FlowWatch::protocol_of(const FlowTuple& tuple, const FlowRecord* record) noexcept {
  CachedFlow* const flow = cache_of(tuple).find(tuple);
  if (flow != nullptr && flow->session) return flow->session->protocol();
  return record == nullptr ? AppProtocol::kUnknown : static_cast<AppProtocol>(record->protocol);
}

}  // namespace millrace
