// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Parsers that read no further, and what is told of them.
#include <array>

#include "services/functions/ids/flow_watch.hpp"
#include "services/functions/ids/work_budget.hpp"

namespace millrace {

void FlowWatch::tell_lost() const noexcept {
  if (limits_.work != nullptr) limits_.work->lose_parser();
}

/// What the client sends on may be another request.
void FlowWatch::tell_unread(const FlowRecord& record, std::uint8_t direction) const noexcept {
  const bool is_lost = record.is_over == FlowRecord::kLostParser && direction == 0;
  if (is_lost && blocked_.has(static_cast<AppProtocol>(record.protocol), 0)) tell_lost();
}

/// `before`: which directions were broken. One may break the other: what waited is read.
void FlowWatch::tell_broken(const AppSession& session,
                            const std::array<bool, 2>& before) const noexcept {
  for (std::uint8_t i = 0; i < 2; ++i) {
    const bool breaks = session.is_broken(i) && !before[i];
    if (breaks && blocked_.has(session.protocol(), i)) tell_lost();
  }
}

/// The direction begins in front of where it was picked up. What has been read of it comes once
/// more, behind what is new; of the other one what is kept is read.
void FlowWatch::begin_anew(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                           CachedFlow& flow) noexcept {
  const std::uint8_t direction = packet.view.direction;
  const auto other = static_cast<std::uint8_t>(1 - direction);
  tables.records.change_parser(record);
  record.settled[0] = record.settled[1] = record.transactions = 0;
  record.protocol = record.is_over = 0;
  flow.base = {};
  flow.position[direction] = 0;
  flow.pending[direction].clear();
  if (!reads_apps_) return;
  flow.session.emplace(limits_);
  const Stream* const stream = tables.streams.find(packet.tuple);
  if (stream == nullptr) return;
  const KeptBytes kept(tables.streams, *stream, other, 0);
  if (!kept.is_whole()) return lose_parser(tables, record, flow);
  packet.memory.mute(true);
  read_kept(packet, kept, other, flow);
  packet.memory.mute(false);
}

void FlowWatch::lose_parser(IdsTables& tables, FlowRecord& record, CachedFlow& flow) noexcept {
  flow.session.reset();
  if (record.is_over != 0) return;
  tables.records.change_parser(record);
  record.is_over = FlowRecord::kLostParser;
  ++lost_;
}

/// Or one body of it, in the packet in hand.
bool FlowWatch::is_given_up(const AppSession& session, std::uint8_t direction) const noexcept {
  const bool has_lost_body = limits_.work != nullptr && limits_.work->has_lost_body();
  return has_lost_body || session.is_broken(direction);
}

}  // namespace millrace
