// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/fragment_sender.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/packet_walk.hpp"
#include "shared/links/ledger.hpp"
#include "shared/packet/ipv4_fragments.hpp"
#include "shared/packet/ipv6_fragments.hpp"

namespace millrace {
namespace {

using packet_walk::kEthernetBytes;

/// Where the fragments of one frame go.
struct Pieces {
  BurstSender& sender;
  SidePool& pool;
  LaneRecord& record;
  std::span<const std::byte> ethernet;  ///< in front of each
  std::uint8_t port;

  template <typename Fragments>
  void send(const Fragments& fragments) const noexcept {
    if (fragments.count() == 0) {
      count_end(record, record.generated, Reason::kFragment);
      count_end(record, record.dropped, Reason::kOversize);
    }
    for (std::uint32_t i = 0; i < fragments.count(); ++i) {
      count_end(record, record.generated, Reason::kFragment);
      if (!sender.reaches(port)) {
        count_end(record, record.dropped, Reason::kNoOutput);
        continue;
      }
      const std::uint32_t buffer = take_side_buffer(sender, pool, record);
      if (buffer == SidePool::kNone) continue;
      std::byte* const data = pool.data(buffer);
      std::memcpy(data, ethernet.data(), ethernet.size());
      const std::size_t bytes =
          fragments.write(i, {data + kEthernetBytes, pool.room() - kEthernetBytes});
      if (bytes == 0) {  // longer than a buffer: the MTU is another port's
        count_end(record, record.dropped, Reason::kOversize);
        pool.put(buffer);
        continue;
      }
      sender.add_side(buffer, {data, kEthernetBytes + bytes}, port);
    }
  }
};

}  // namespace

std::uint32_t take_side_buffer(BurstSender& sender, SidePool& pool, LaneRecord& record) noexcept {
  std::uint32_t buffer = pool.take();
  if (buffer == SidePool::kNone) {
    sender.send_all();  // queues that keep no buffers give theirs back
    buffer = pool.take();
  }
  if (buffer == SidePool::kNone) count_end(record, record.dropped, Reason::kNoBuffer);
  return buffer;
}

void send_fragments(BurstSender& sender, SidePool& pool, LaneRecord& record,
                    std::span<const std::byte> frame, std::uint32_t mtu,
                    std::uint8_t port) noexcept {
  const auto ethernet = frame.first(std::min(kEthernetBytes, frame.size()));
  const auto packet = frame.subspan(ethernet.size());
  const Pieces out{sender, pool, record, ethernet, port};
  if (!packet.empty() && std::to_integer<unsigned>(packet[0]) >> 4 == 6) {
    out.send(Ipv6Fragments(packet, mtu, 0));  // the packet has an identification
  } else {
    out.send(Ipv4Fragments(packet, mtu));
  }
}

}  // namespace millrace
