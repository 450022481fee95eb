// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/stream/tcp_streams.hpp"

namespace millrace {

/// Bytes that are kept of the stream whose segment is looked at. Borrows both.
class StreamOfPacket final : public StreamHistory {
 public:
  StreamOfPacket(TcpStreams& streams, const StreamTable& table)
      : streams_(streams), table_(table) {}
  BufferValue whole() noexcept override {
    const StreamReader::Offer offer = streams_.whole(table_);
    return {.bytes = offer.text,
            .base = offer.position - offer.carry,
            .seen = offer.carry,
            .is_complete = false};
  }

 private:
  TcpStreams& streams_;
  const StreamTable& table_;
};

}  // namespace millrace
