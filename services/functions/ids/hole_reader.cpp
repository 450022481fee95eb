// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/hole_reader.hpp"

#include "services/functions/ids/detect/packet_tests.hpp"

namespace millrace {

BufferValue KeptHistory::value_of(const StreamReader::Offer& offer) noexcept {
  return {.bytes = offer.text,
          .base = offer.position - offer.carry,
          .seen = offer.carry,
          .is_complete = false};
}

BufferValue KeptHistory::whole() noexcept { return value_of(streams_.whole(table_)); }

void HoleReader::read(const FinishContext& call, IdsTables& tables, std::uint16_t number,
                      const WatchedPacket& packet) noexcept {
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    const TcpStreams::Taken taken = streams_.skip(call, tables.streams, number, direction);
    if (taken.fate != TcpStreams::Fate::kOffered) continue;
    PacketView view = turned_to(packet.view, direction);
    KeptHistory history(streams_, tables.streams, taken.offer);
    view.history = &history;
    read_one(call, tables, {view, packet.tuple, packet.memory, packet.matched, packet.log}, taken);
  }
}

void HoleReader::read_one(const FinishContext& call, IdsTables& tables, const WatchedPacket& packet,
                          const TcpStreams::Taken& taken) noexcept {
  FlowRecord* const record = packet.memory.need_record();
  if (record == nullptr) return;
  PacketView view = packet.view;
  const WatchedPacket watched{view, packet.tuple, packet.memory, packet.matched, packet.log};
  watch_.read(watched, tables, *record, taken.offer);
  view.app = watch_.protocol_of(packet.tuple, record);
  watch_.look_at_stream(watched, taken.offer, *view.history);
  if (streams_.commit(call, tables.streams, taken)) {
    watch_.settle(packet.tuple, tables, *record);
  } else {
    watch_.forget(packet.tuple);
  }
}

}  // namespace millrace
