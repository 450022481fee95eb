// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/packet_layers.hpp"

#include <utility>

#include "services/functions/ids/packets/carried_packet.hpp"
#include "services/functions/ids/packets/ip_fragment.hpp"
#include "shared/packet/ip_header_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::uint32_t now_s(const FinishContext& call) noexcept {
  return static_cast<std::uint32_t>(call.facts.now_ns / kNsPerSecond);
}

}  // namespace

FlowTuple ends_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  if (const auto tuple = flow_tuple_of(frame, headers)) return *tuple;
  FlowTuple tuple{.protocol = headers.protocol, .version = headers.ip_version};
  const std::size_t bytes =
      headers.ip_version == 4 ? ipv4_wire::kHeaderBytesMin : ipv6_wire::kHeaderBytes;
  if (headers.ip_version == 0 || frame.size() < headers.network_offset + bytes) return {};
  set_addresses(frame.subspan(headers.network_offset), tuple);
  return tuple;
}

PacketLayers::PacketLayers(const PacketLayerOptions& options) : options_(options) {
  for (std::vector<std::byte>& datagram : datagrams_) datagram.reserve(kDatagramBytesMax);
}

void PacketLayers::begin(const FinishContext& call, const LayerTables& tables,
                         std::uint16_t packet) noexcept {
  call_ = &call;
  tables_ = tables;
  layers_ = 1;
  completed_count_ = depth_ = 0;
  followed_.ended_count = 0;
  const std::span<std::byte> frame = call.batch.bytes(packet);
  seen_ = {.packet = packet, .frame = frame, .headers = parse_headers(frame)};
  if (call.flows == nullptr) return;
  seen_.flow = call.flows->of(packet);
  seen_.has_flow = seen_.flow.flow != kNoFlow && (seen_.flow.state == FlowState::kNew ||
                                                  seen_.flow.state == FlowState::kEstablished);
  if (seen_.has_flow) seen_.tuple = &call.flows->tuple(seen_.flow.flow, 0);
}

PacketLayers::Next PacketLayers::next() noexcept {
  followed_.ended_count = 0;
  if (seen_.headers.fragment) {
    return options_.puts_together && tables_.fragments != nullptr ? put_together() : Next::kEnd;
  }
  return go_in();
}

/// `flow` goes by the first fragment that came last: one that did not pass may have named another.
std::uint32_t PacketLayers::flow_hash(const FragmentTable& table) const noexcept {
  if (seen_.flow.flow == kNoFlow) return 0;
  const FlowTuple& tuple = call_->flows->tuple(seen_.flow.flow, 0);
  return static_cast<std::uint32_t>(table.hash(tuple) << 2) | 2u | (seen_.flow.direction & 1u);
}

PacketLayers::Next PacketLayers::put_together() noexcept {
  const auto fragment = ip_fragment(seen_.frame, seen_.headers, depth_);
  if (!fragment) return Next::kRefused;
  if (options_.checks_checksums && !has_good_ip_checksum(seen_.frame, seen_.headers)) {
    return Next::kRefused;  // no host takes it
  }
  if (layers_ == kLayersMax) return Next::kRefused;
  FragmentTable& table = *tables_.fragments;
  switch (table.add(*fragment, {.now_s = now_s(*call_),
                                .is_strict = options_.drops,
                                .flow = depth_ == 0 ? flow_hash(table) : 0})) {
    case FragmentTable::Outcome::kWaits:
      return Next::kWaits;
    case FragmentTable::Outcome::kRefused:
      return Next::kRefused;
    case FragmentTable::Outcome::kFull:
      return Next::kFull;
    case FragmentTable::Outcome::kWhole:
      break;
  }
  completed_[completed_count_++] = fragment->key;
  // The fragment may lie in the one that was written last.
  std::swap(datagrams_[0], datagrams_[1]);
  std::vector<std::byte>& whole = datagrams_[0];
  if (!table.write_whole(*fragment, whole)) {
    table.settle(fragment->key, false);
    --completed_count_;
    return Next::kRefused;
  }
  ++layers_;
  seen_.frame = whole;
  seen_.headers = parse_ip_headers(whole);
  if (depth_ == 0) {
    seen_.layer = SeenPacket::Layer::kDatagram;
    return Next::kMore;
  }
  return follow();
}

PacketLayers::Next PacketLayers::go_in() noexcept {
  const auto carried = carried_packet(seen_.frame, seen_.headers);
  if (!carried) return Next::kEnd;
  if (layers_ == kLayersMax) return Next::kRefused;
  ++layers_;
  seen_.depth = ++depth_;
  const auto at = static_cast<std::size_t>(carried->frame.data() - seen_.frame.data());
  seen_.frame = seen_.frame.subspan(at, carried->frame.size());
  seen_.headers = carried->headers;
  return follow();
}

/// Finds its flow.
PacketLayers::Next PacketLayers::follow() noexcept {
  seen_.layer = SeenPacket::Layer::kCarried;
  seen_.flow = {};
  seen_.has_flow = false;
  seen_.tuple = nullptr;
  if (tables_.inner_flows == nullptr || seen_.headers.fragment) return Next::kMore;
  const auto tuple = flow_tuple_of(seen_.frame, seen_.headers);
  if (!tuple) return Next::kMore;
  followed_ = tables_.inner_flows->follow(seen_.frame, seen_.headers, *tuple, now_s(*call_));
  if (followed_.tuple == nullptr) return options_.drops ? Next::kFull : Next::kMore;
  seen_.flow = followed_.flow;
  seen_.has_flow = true;
  seen_.tuple = followed_.tuple;
  return Next::kMore;
}

void PacketLayers::settle(bool passes) noexcept {
  for (std::uint32_t i = 0; i < completed_count_; ++i) {
    tables_.fragments->settle(completed_[i], passes);
  }
}

}  // namespace millrace
