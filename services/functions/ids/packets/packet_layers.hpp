// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/packets/fragment_table.hpp"
#include "services/functions/ids/packets/inner_flows.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// What is looked at at a time. Borrowed until the next one.
struct SeenPacket {
  enum class Layer : std::uint8_t {
    kPacket,    ///< the packet of the batch
    kDatagram,  ///< the datagram that it makes whole, of which it is a fragment
    kCarried,   ///< what one of these carries, or a datagram of which it carries a fragment
  };
  std::uint16_t packet = 0;  ///< of the batch
  Layer layer = Layer::kPacket;
  std::uint8_t depth = 0;      ///< packets around it
  std::span<std::byte> frame;  ///< of kPacket the batch's
  PacketHeaders headers;
  PacketFlow flow{};
  bool has_flow = false;             ///< of a flow that is tracked and not invalid
  const FlowTuple* tuple = nullptr;  ///< of its flow's direction 0; null: it has no flow

  /// Its bytes, where it is not the packet of the batch itself.
  std::span<const std::byte> inner() const noexcept {
    return layer == Layer::kPacket ? std::span<const std::byte>() : frame;
  }
};

/// As flow_tuple_of(); of what that says nothing of, the addresses, without ports. All zero: it is
/// not IP.
FlowTuple ends_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;

struct PacketLayerOptions {
  bool puts_together = true;     ///< fragments; else each of them is looked at, and no more
  bool drops = true;             ///< what cannot be read does not pass: then it must be told
  bool checks_checksums = true;  ///< of IPv4, in fragments
};

/// What is kept of packets before: null: there is no state.
struct LayerTables {
  FragmentTable* fragments = nullptr;
  InnerFlows* inner_flows = nullptr;
};

/// Walks from a packet to the datagram that it makes whole, and on to what tunnels carry, to a
/// depth of kLayersMax. One a worker; allocates at construction only.
class PacketLayers {
 public:
  /// The packet, and what is in it. What lies deeper is not looked at.
  static constexpr std::uint32_t kLayersMax = 6;

  explicit PacketLayers(const PacketLayerOptions& options);

  /// `tables`: both or none; without them nothing is put together. They and `call` are borrowed
  /// until settle().
  void begin(const FinishContext& call, const LayerTables& tables, std::uint16_t packet) noexcept;
  const SeenPacket& seen() const noexcept { return seen_; }

  enum class Next : std::uint8_t {
    kEnd,      ///< there is no more
    kMore,     ///< seen() is the next
    kWaits,    ///< it is a fragment, and its datagram is not whole
    kRefused,  ///< a fragment that does not fit, or tunnels that are too deep
    kFull,     ///< there is no room to keep it, or its flow
  };
  Next next() noexcept;
  /// Inner flows that have ended with the last call of next(): their tuples.
  std::span<const FlowTuple> ended() const noexcept {
    return std::span(followed_.ended).first(followed_.ended_count);
  }
  /// Behind the last layer: whether the packet passes.
  void settle(bool passes) noexcept;

 private:
  std::uint32_t flow_hash(const FragmentTable& table) const noexcept;
  Next put_together() noexcept;
  Next go_in() noexcept;
  Next follow() noexcept;

  PacketLayerOptions options_;
  const FinishContext* call_ = nullptr;
  LayerTables tables_;
  SeenPacket seen_;
  std::uint32_t layers_ = 0, completed_count_ = 0;
  std::uint8_t depth_ = 0;                             ///< in tunnels
  std::array<FlowTuple, kLayersMax> completed_{};      ///< keys of datagrams
  std::array<std::vector<std::byte>, 2> datagrams_{};  ///< one of them is read, one is written
  InnerFlows::Followed followed_{};
};

}  // namespace millrace
