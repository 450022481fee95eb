// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/port_pool.hpp"

#include <cstring>

#include "services/functions/nat/nat_address.hpp"
#include "shared/base/check.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kForEver = UINT32_MAX;
/// FlowTuple::zone of what the table holds.
constexpr std::uint16_t kHost = 1, kMapping = 2, kPermit = 3;

constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}
/// Mappings, as many hosts, and permits.
std::uint32_t entries_for(const PortPoolShape& shape) noexcept {
  return shape.mappings * (shape.filtering == NatFiltering::kAddress ? 3 : 2);
}
PortRange range_of(const PortPoolShape& shape) noexcept {
  return {.first = shape.first_port,
          .last = shape.last_port,
          .block = shape.block,
          .lanes = shape.lanes,
          .addresses = static_cast<std::uint32_t>(shape.addresses.size()),
          .reserved = shape.reserved};
}

FlowTuple host_key(const FlowTuple& tuple) noexcept {
  return {.source = tuple.source, .version = 4, .zone = kHost};
}
FlowTuple inside_key(const FlowTuple& tuple) noexcept {
  return {.source = tuple.source,
          .source_port = tuple.source_port,
          .protocol = tuple.protocol,
          .version = 4,
          .zone = kMapping};
}
FlowTuple outside_key(const Ipv6Bytes& address, std::uint16_t port,
                      std::uint8_t protocol) noexcept {
  return {.destination = address,
          .destination_port = port,
          .protocol = protocol,
          .version = 4,
          .zone = kMapping};
}
FlowTuple permit_key(std::uint32_t mapping, std::uint32_t remote) noexcept {
  FlowTuple key{.source = nat_bytes(remote), .version = 4, .zone = kPermit};
  std::memcpy(key.destination.data(), &mapping, sizeof mapping);
  return key;
}

}  // namespace

/// All zero at the start.
struct PortPool::Head {
  std::uint32_t mappings;
  std::uint32_t padding[15];
};

/// Beside each entry of the table.
struct PortPool::Extra {
  std::uint32_t count;  ///< of a mapping or a permit: flows; of a host: mappings
  PortOwner owner;      ///< of a host
  std::uint32_t host;   ///< of a mapping
  std::uint32_t block;  ///< of a mapping
  std::uint16_t port;   ///< of a mapping: outside
  std::uint8_t padding[10];
};

std::uint64_t PortPool::bytes_for(const PortPoolShape& shape) noexcept {
  return whole_lines(FlowTable::bytes_for(entries_for(shape))) +
         whole_lines(std::size_t{entries_for(shape)} * sizeof(Extra)) + sizeof(Head) +
         PortBlocks::bytes_for(range_of(shape));
}

PortPool::PortPool(const LaneState& state, const PortPoolShape& shape, std::uint32_t lane,
                   const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state),
      shape_(shape),
      secret_(secret),
      table_(state, entries_for(shape), secret),
      extras_at_(whole_lines(FlowTable::bytes_for(entries_for(shape)))),
      head_at_(extras_at_ + whole_lines(std::size_t{entries_for(shape)} * sizeof(Extra))),
      blocks_(state, head_at_ + sizeof(Head), range_of(shape), lane) {
  static_assert(sizeof(Head) == kCacheLine && sizeof(Extra) == kCacheLine / 2);
  MILLRACE_CHECK(shape.mappings >= 1 && shape.mappings <= PortPoolShape::kMappingsMax);
}

PortPool::Head& PortPool::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data() + head_at_);
}

PortPool::Extra& PortPool::extra(std::uint32_t number) const noexcept {
  MILLRACE_CHECK(number < entries_for(shape_));
  return *reinterpret_cast<Extra*>(state_.bytes.data() + extras_at_ +
                                   std::size_t{number} * sizeof(Extra));
}

std::uint32_t PortPool::count() const noexcept { return head().mappings; }

std::uint64_t PortPool::hash_of(const FlowTuple& tuple) const noexcept {
  return siphash13(std::as_bytes(std::span(&tuple, 1)), secret_);
}

std::optional<std::uint32_t> PortPool::find(const FlowTuple& tuple) const noexcept {
  const auto found = table_.find(tuple);
  return found ? std::optional(found->flow) : std::nullopt;
}

std::optional<std::uint32_t> PortPool::add(const FlowTuple& tuple,
                                           const FlowTuple& answer) noexcept {
  const FlowTable::Insertion done = table_.insert(tuple, answer, kForEver);
  if (done.what != FlowTable::Inserted::kNew) return std::nullopt;
  table_.establish(done.flow);  // so it is not given up for another one
  state_.change(extra(done.flow)) = {};
  return done.flow;
}

/// False: no room.
bool PortPool::permit(std::uint32_t mapping, std::uint32_t remote) noexcept {
  if (shape_.filtering != NatFiltering::kAddress) return true;
  const FlowTuple key = permit_key(mapping, remote);
  std::optional<std::uint32_t> number = find(key);
  if (!number) number = add(key, key);
  if (number) ++state_.change(extra(*number)).count;
  return number.has_value();
}

void PortPool::take_permit_back(std::uint32_t mapping, std::uint32_t remote) noexcept {
  if (shape_.filtering != NatFiltering::kAddress) return;
  const auto number = find(permit_key(mapping, remote));
  if (number && --state_.change(extra(*number)).count == 0) table_.remove(*number);
}

void PortPool::leave_host(std::uint32_t host) noexcept {
  if (extra(host).count == 0) table_.remove(host);
}

PortPool::Opening PortPool::map_new(const FlowTuple& tuple, std::uint32_t host) noexcept {
  if (shape_.host_limit != 0 && extra(host).count >= shape_.host_limit) {
    return {.what = Opened::kHostLimit};
  }
  const FlowTuple key = inside_key(tuple);
  const PortWish wish{.owner = host,
                      .port = tuple.source_port,
                      .protocol = tuple.protocol,
                      .hash_of_owner = hash_of(host_key(tuple)),
                      .hash_of_port = hash_of(key)};
  const auto port = blocks_.find(wish, extra(host).owner);
  if (!port) return {.what = Opened::kExhausted};
  const std::uint32_t address = shape_.addresses[blocks_.address_of(port->block)];
  const auto mapping = add(key, outside_key(nat_bytes(address), port->port, tuple.protocol));
  if (!mapping) return {};
  if (!permit(*mapping, nat_address(tuple.destination))) {
    table_.remove(*mapping);
    return {};
  }
  state_.change(extra(*mapping)) = {.count = 1,
                                    .owner = {},
                                    .host = host,
                                    .block = port->block,
                                    .port = port->port,
                                    .padding = {}};
  ++state_.change(extra(host)).count;
  const bool block_begins = blocks_.take(*port, wish, extra(host).owner);
  ++state_.change(head()).mappings;
  Opening done{Opened::kDone, *mapping, address, port->port, true};
  if (block_begins) done.block = block_of(port->block);
  return done;
}

PortPool::Block PortPool::block_of(std::uint32_t block) const noexcept {
  const PortBlocks::Ports ports = blocks_.ports_of(block);
  return {shape_.addresses[blocks_.address_of(block)], ports.first, ports.last};
}

PortPool::Opening PortPool::map(const FlowTuple& tuple) noexcept {
  if (const auto mapping = find(inside_key(tuple))) {
    if (!permit(*mapping, nat_address(tuple.destination))) return {};
    const Extra& one = extra(*mapping);
    ++state_.change(extra(*mapping)).count;
    return {Opened::kDone, *mapping, shape_.addresses[blocks_.address_of(one.block)], one.port};
  }
  if (head().mappings >= shape_.mappings) return {};
  const FlowTuple key = host_key(tuple);
  std::optional<std::uint32_t> host = find(key);
  if (!host) host = add(key, key);
  if (!host) return {};
  const Opening done = map_new(tuple, *host);
  if (done.what != Opened::kDone) leave_host(*host);
  return done;
}

std::optional<PortPool::Inside> PortPool::enter(const FlowTuple& tuple) noexcept {
  if (shape_.filtering == NatFiltering::kAddressPort) return std::nullopt;
  const auto mapping = find(outside_key(tuple.destination, tuple.destination_port, tuple.protocol));
  if (!mapping) return std::nullopt;
  const std::uint32_t remote = nat_address(tuple.source);
  if (shape_.filtering == NatFiltering::kAddress && !find(permit_key(*mapping, remote))) {
    return std::nullopt;
  }
  permit(*mapping, remote);
  ++state_.change(extra(*mapping)).count;
  const FlowTuple& inside = table_.entry(*mapping).tuple;
  return Inside{*mapping, inside.source, inside.source_port};
}

std::optional<std::uint32_t> PortPool::outside_of(const Ipv6Bytes& inside) const noexcept {
  const auto host = find(host_key({.source = inside}));
  if (!host) return std::nullopt;
  return shape_.addresses[blocks_.address_of(extra(*host).owner.first_block - 1)];
}

std::optional<PortPool::Closing> PortPool::unmap(std::uint32_t number,
                                                 std::uint32_t remote) noexcept {
  take_permit_back(number, remote);
  Extra& mapping = state_.change(extra(number));
  MILLRACE_CHECK(mapping.count != 0);
  if (--mapping.count != 0) return std::nullopt;
  const FlowTuple& inside = table_.entry(number).tuple;
  Closing done{.inside = {.source = inside.source,
                          .source_port = inside.source_port,
                          .protocol = inside.protocol,
                          .version = inside.version},
               .address = shape_.addresses[blocks_.address_of(mapping.block)],
               .port = mapping.port};
  Extra& host = state_.change(extra(mapping.host));
  if (blocks_.give_back({mapping.block, mapping.port}, inside.protocol, host.owner)) {
    done.block = block_of(mapping.block);
  }
  --host.count;
  leave_host(mapping.host);
  --state_.change(head()).mappings;
  table_.remove(number);
  return done;
}

}  // namespace millrace
