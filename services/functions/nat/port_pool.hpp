// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_table.hpp"
#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/nat/port_blocks.hpp"

/// Which outside address and port each inside one has, in the state of one lane. What a batch has
/// changed of it is taken back when its worker dies (LaneUndoLog).
///
/// - A mapping is that of an inside address, port and protocol, whatever the other end: endpoint
///   independent (RFC 4787 REQ-1, RFC 5382 REQ-1; RFC 5508 REQ-1 for identifiers of ICMP). It lives
///   as long as one flow uses it.
/// - All mappings of a host have one outside address, and ports of blocks that are its alone, so a
///   log of blocks says which host had a port (port_blocks.hpp). A host takes another block when
///   its own have no port left, and gives one back with the last port in use.
///
/// Memory, zero at the start: a FlowTable that holds mappings by both ends, hosts and permits; 16
/// bytes beside each of its entries; a head of a line; PortBlocks.

namespace millrace {

enum class NatFiltering : std::uint8_t {
  kEndpoint,     ///< each address that sends to a mapping reaches it
  kAddress,      ///< addresses that it has sent to do
  kAddressPort,  ///< addresses and ports that it has sent to do: no flow begins outside
};

/// Alike in all lanes of a path.
struct PortPoolShape {
  std::span<const std::uint32_t> addresses;  ///< IPv4, host order; 1..kPoolAddressesMax
  std::uint16_t first_port = 1024, last_port = 65535;
  std::uint32_t block = 64;       ///< as PortRange's
  std::uint32_t lanes = 1;        ///< of the path
  std::uint32_t mappings = 1024;  ///< of a lane, at most: 1..kMappingsMax
  std::uint32_t host_limit = 0;   ///< mappings of one inside address; 0: no limit
  NatFiltering filtering = NatFiltering::kEndpoint;
  std::span<const ReservedPort> reserved = {};  ///< as PortRange's

  static constexpr std::uint32_t kMappingsMax = FlowTable::kFlowsMax / 3;
};

/// A cheap view. One thread, which changes the lane's state at that moment.
class PortPool {
 public:
  /// Lines of the undo log that one call takes at most.
  static constexpr std::uint32_t kLinesOfMap = 88, kLinesOfUnmap = 72;

  static std::uint64_t bytes_for(const PortPoolShape& shape) noexcept;
  /// `state`: of bytes_for(shape). `lane`: below shape.lanes. `secret`: as FlowTable's.
  PortPool(const LaneState& state, const PortPoolShape& shape, std::uint32_t lane,
           const std::array<std::uint64_t, 2>& secret) noexcept;

  enum class Opened : std::uint8_t {
    kDone,
    kExhausted,  ///< no port of the host's outside address is left for it
    kHostLimit,  ///< it has host_limit mappings
    kFull,       ///< the lane has as many mappings as it may have
  };
  struct Block {
    std::uint32_t address = 0;  ///< outside, host order
    std::uint16_t first = 0, last = 0;
  };
  struct Opening {
    Opened what = Opened::kFull;
    std::uint32_t mapping = 0;  ///< kDone: number of the mapping
    std::uint32_t address = 0;  ///< kDone: outside, host order
    std::uint16_t port = 0;
    bool begins = false;           ///< the mapping does, with this flow
    std::optional<Block> block{};  ///< that its host gets with it
  };
  /// A flow begins with a packet from the inside: the mapping of tuple.source and source_port, a
  /// new one where there is none, has one flow more. `tuple`: of IPv4, of a protocol with ports or
  /// a question of ICMP; its source may be an IPv6 address, which IPv4 addresses stand for.
  Opening map(const FlowTuple& tuple) noexcept;

  struct Inside {
    std::uint32_t mapping = 0;
    Ipv6Bytes address{};  ///< as the FlowTuple of map() had it, of either version
    std::uint16_t port = 0;
  };
  /// A flow begins with a packet from outside: the mapping that tuple.destination and
  /// destination_port are of has one flow more, if the filtering lets tuple.source in.
  std::optional<Inside> enter(const FlowTuple& tuple) noexcept;

  /// A mapping that goes.
  struct Closing {
    FlowTuple inside;           ///< its source, source_port and protocol
    std::uint32_t address = 0;  ///< outside, host order
    std::uint16_t port = 0;
    std::optional<Block> block{};  ///< that its host gives back with it
  };
  /// A flow of the mapping ends; with the last the mapping goes. `remote`: IPv4, host order, of the
  /// flow's other end.
  std::optional<Closing> unmap(std::uint32_t mapping, std::uint32_t remote) noexcept;

  /// The outside address (host order) of an inside one that has a mapping.
  std::optional<std::uint32_t> outside_of(const Ipv6Bytes& inside) const noexcept;
  std::uint32_t count() const noexcept;  ///< mappings
  const PortBlocks& blocks() const noexcept { return blocks_; }

 private:
  struct Head;
  struct Extra;

  Head& head() const noexcept;
  Extra& extra(std::uint32_t number) const noexcept;
  std::uint64_t hash_of(const FlowTuple& tuple) const noexcept;
  std::optional<std::uint32_t> find(const FlowTuple& tuple) const noexcept;
  std::optional<std::uint32_t> add(const FlowTuple& tuple, const FlowTuple& answer) noexcept;
  bool permit(std::uint32_t mapping, std::uint32_t remote) noexcept;
  void take_permit_back(std::uint32_t mapping, std::uint32_t remote) noexcept;
  Opening map_new(const FlowTuple& tuple, std::uint32_t host) noexcept;
  void leave_host(std::uint32_t host) noexcept;
  Block block_of(std::uint32_t block) const noexcept;

  LaneState state_;
  PortPoolShape shape_;
  std::array<std::uint64_t, 2> secret_;
  FlowTable table_;
  std::size_t extras_at_, head_at_;
  PortBlocks blocks_;
};

}  // namespace millrace
