// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/flow_watch.hpp"
#include "services/functions/ids/ids_lane.hpp"
#include "services/functions/stream/tcp_streams.hpp"

namespace millrace {

/// The bytes of a stream that are kept, of the text that was offered last. Borrows.
class KeptHistory final : public StreamHistory {
 public:
  KeptHistory(TcpStreams& streams, const StreamTable& table, const StreamReader::Offer& offer)
      : streams_(streams), table_(table), text_(value_of(offer)) {}
  BufferValue whole() noexcept override;
  BufferValue text() noexcept override { return text_; }

 private:
  static BufferValue value_of(const StreamReader::Offer& offer) noexcept;

  TcpStreams& streams_;
  const StreamTable& table_;
  BufferValue text_;
};

/// For `mode: ids`: a host has data that have not come by, as its acknowledgment says. What waits
/// behind them is read with that packet, and not only with the next one that brings data. One
/// thread.
class HoleReader {
 public:
  /// Both are borrowed.
  HoleReader(TcpStreams& streams, FlowWatch& watch) : streams_(streams), watch_(watch) {}

  /// Before the packet's own data are taken. Reads one hole of each direction at most. `packet`: of
  /// a flow; as it is, or without its payload.
  void read(const FinishContext& call, IdsTables& tables, std::uint16_t number,
            const WatchedPacket& packet) noexcept;

 private:
  void read_one(const FinishContext& call, IdsTables& tables, const WatchedPacket& packet,
                const TcpStreams::Taken& taken) noexcept;

  TcpStreams& streams_;
  FlowWatch& watch_;
};

}  // namespace millrace
