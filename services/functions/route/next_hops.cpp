// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/next_hops.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {

namespace {

/// 0..255. Neighbours of a link differ in their last bytes.
std::size_t slot_of(const NeighbourKey& key) noexcept {
  const std::size_t at = key.family == NeighbourFamily::kIpv4 ? 0 : 12;
  std::uint32_t last = 0;
  std::memcpy(&last, key.address.data() + at, sizeof last);
  return ((last ^ key.port) * 0x9e3779b1u) >> 24;
}

}  // namespace

NeighbourKey neighbour_of(std::uint8_t port, std::uint32_t address) noexcept {
  NeighbourKey key{.family = NeighbourFamily::kIpv4, .port = port};
  for (std::size_t i = 0; i < 4; ++i) {
    key.address[i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  }
  return key;
}

NeighbourKey neighbour_of(std::uint8_t port, const Ipv6Bytes& address) noexcept {
  return {.family = NeighbourFamily::kIpv6, .port = port, .address = address};
}

std::uint32_t ipv4_of(const NeighbourKey& key) noexcept {
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < 4; ++i) address = address << 8 | key.address[i];
  return address;
}

NextHops::Found NextHops::find(const FinishContext& call, const Departure& at,
                               MacAddress& mac) noexcept {
  if (call.facts.neighbours == nullptr) {  // `millrace try`: there is nothing to ask
    mac = {};
    return Found::kMac;
  }
  const std::uint64_t now_ms = neighbour_ms(call.facts.now_ns);
  const NeighbourTableView& table = *call.facts.neighbours;
  Kept& kept = kept_[slot_of(at.neighbour)];
  if (kept.key == at.neighbour && table.is_fresh(kept.hint, now_ms)) {
    mac = kept.hint.mac;
    return Found::kMac;
  }
  last_ = table.find_or_insert(at.neighbour, now_ms, false);
  if (!last_.found()) return Found::kFailed;
  const NeighbourAnswer answer = table.look_up(last_, now_ms);
  if (answer.should_ask()) {
    Question question;
    const bool unicast = answer.ask == NeighbourAsk::kUnicast;
    const std::size_t bytes = write_question(at, unicast ? &answer.mac : nullptr, question);
    const SideRecord record{.packet = at.packet,
                            .kind = static_cast<std::uint8_t>(SideKind::kSend),
                            .port = at.port,
                            .why = static_cast<std::uint8_t>(Reason::kSolicit)};
    const std::span<std::byte> to = call.batch.side.add(record, bytes);
    std::copy_n(question.begin(), to.size(), to.begin());
  }
  if (answer.has_mac()) {
    mac = answer.mac;
    if (table.keep(last_, now_ms, kept.hint)) kept.key = at.neighbour;
    return Found::kMac;
  }
  return answer.state == NeighbourState::kIncomplete ? Found::kWaits : Found::kFailed;
}

bool NextHops::knows(const FinishContext& call, const Departure& at, MacAddress& mac) noexcept {
  const NeighbourHandle waits = last_;
  const Found found = find(call, at, mac);
  last_ = waits;
  return found == Found::kMac;
}

std::size_t NextHops::write_question(const Departure& at, const MacAddress* known,
                                     Question& question) const noexcept {
  const RouterPort* const port = ports_.at(at.port);
  if (port == nullptr) return 0;
  if (at.neighbour.family == NeighbourFamily::kIpv4) {
    const std::uint32_t target = ipv4_of(at.neighbour);
    const OwnAddress* const source = ports_.source_at(*port, target);
    // A router without any address asks as a prober does (RFC 5227).
    write_arp(question, port->mac, known != nullptr ? *known : kBroadcastMac,
              {.operation = kArpRequest,
               .sender_mac = port->mac,
               .sender = source == nullptr ? 0 : source->address,
               .target_mac = {},
               .target = target});
    return kArpFrameBytes;
  }
  const Ipv6Bytes& target = at.neighbour.address;
  const Ipv6Bytes* const source = port->source_for(target);
  const Ipv6Bytes group = solicited_node(target);
  write_solicitation(question, port->mac, known != nullptr ? *known : multicast_mac(group),
                     source == nullptr ? port->link_local : *source,
                     known != nullptr ? target : group, target);
  return kNeighbourFrameBytes;
}

void NextHops::set_source(const Batch& batch, const Departure& at) const noexcept {
  const MacAddress& mac = ports_.at(at.port)->mac;
  std::memcpy(batch.data(at.packet) + mac.size(), mac.data(), mac.size());
}

NextHops::Found NextHops::depart(const FinishContext& call, const Departure& at,
                                 const MacAddress& given) noexcept {
  MacAddress mac = given;
  const bool is_given = at.neighbour.family == NeighbourFamily::kNone;
  const Found found = is_given ? Found::kMac : find(call, at, mac);
  if (found == Found::kMac) {
    set_source(call.batch, at);
    leave(call, at, mac);
  }
  return found;
}

void NextHops::leave(const FinishContext& call, const Departure& at,
                     const MacAddress& mac) const noexcept {
  const Batch& batch = call.batch;
  std::memcpy(batch.data(at.packet), mac.data(), mac.size());
  if (at.fragment_to == 0) {
    batch.output[at.packet] = at.port;
    return;
  }
  if (!batch.side.has_room()) {
    batch.drop(at.packet, Reason::kSideFull);
    return;
  }
  batch.side.add({.packet = at.packet,
                  .kind = static_cast<std::uint8_t>(SideKind::kFragment),
                  .port = at.port,
                  .argument = at.fragment_to,
                  .why = static_cast<std::uint8_t>(Reason::kFragment)});
  batch.consume(at.packet, Reason::kFragmented);
}

void NextHops::hold(const FinishContext& call, const Departure& at,
                    const HeldReport& report) noexcept {
  const Batch& batch = call.batch;
  Question question;
  const std::size_t asked = write_question(at, nullptr, question);
  const std::size_t bytes = asked + report.front.size();
  if (!batch.side.has_room(bytes)) {
    batch.drop(at.packet, Reason::kSideFull);
    return;
  }
  const std::span<std::byte> to =
      batch.side.add({.packet = at.packet,
                      .kind = static_cast<std::uint8_t>(SideKind::kHold),
                      .port = at.port,
                      .argument = last_.number,
                      .generation = last_.generation,
                      .why = static_cast<std::uint8_t>(Reason::kHeld),
                      .back = report.back,
                      .ask = static_cast<std::uint16_t>(asked),
                      .quoted = report.quoted,
                      .mtu = static_cast<std::uint16_t>(at.fragment_to)},
                     bytes);
  std::copy_n(question.begin(), asked, to.begin());
  std::ranges::copy(report.front, to.begin() + static_cast<std::ptrdiff_t>(asked));
  set_source(batch, at);
  batch.consume(at.packet, Reason::kHeld);
}

}  // namespace millrace
