// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "services/functions/function.hpp"
#include "shared/base/packet.hpp"
#include "shared/base/reason.hpp"
#include "shared/layout/batch.hpp"
#include "shared/layout/side_list.hpp"

/// Functions that are written for one packet at a time, by event. Such a function overrides the
/// events that it wants and says nothing of batches, columns and results:
///
///     struct Telnet final : PacketFunction {
///       void tcp(Packet& packet) noexcept override { ... }
///     };
///
/// It runs on a CPU, in finish: compute does nothing.

namespace millrace {

/// One selected packet within one call of finish; a cheap view. Borrowed: valid until its event
/// returns. Nothing here throws or allocates.
///
/// Of drop(), consume(), send_now(), answer() and pass() the last call decides the fate. A packet
/// for which an event calls none of them passes.
class Packet {
 public:
  /// `number`: of the packet in the batch.
  Packet(const FinishContext& call, std::uint16_t number) noexcept : call_(call), number_(number) {}
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  std::uint16_t number() const noexcept { return number_; }
  /// What this view has no name for: lane state, neighbours, columns.
  const FinishContext& call() const noexcept { return call_; }
  /// The frame without FCS, to be read and changed. Of any length, also 0: only the event says what
  /// is there for certain.
  std::span<std::byte> bytes() const noexcept { return call_.batch.bytes(number_); }
  /// Where they are in bytes(). The first call walks over them, unless the adapter has; a later one
  /// only after grow_front() or grow_back(). What an event writes into the bytes changes nothing
  /// here.
  const PacketHeaders& headers() noexcept {
    if (!walked_) {
      headers_ = parse_headers(bytes());
      walked_ = true;
    }
    return headers_;
  }
  /// From the IP header to the end of the IP packet, without padding of the frame. Empty: no IP.
  std::span<std::byte> network() noexcept { return from(headers().network_offset); }
  /// The same from the header behind those of IP. Empty: it is not there (a later fragment).
  std::span<std::byte> transport() noexcept { return from(headers().transport_offset); }
  /// The same from the first byte behind UDP or TCP (of other protocols, behind IP).
  std::span<std::byte> payload() noexcept { return from(headers().payload_offset); }
  /// Number of the port that it came from; kOutputDefault: not known.
  std::uint8_t port_in() const noexcept { return call_.facts.port_in; }
  /// Since the topology started; the same for all packets of a batch.
  std::uint64_t now_ns() const noexcept { return call_.facts.now_ns; }

  /// It goes on. The port of a send_to() stays.
  void pass() const noexcept {
    call_.batch.verdict[number_] = static_cast<std::uint8_t>(Verdict::kPass);
  }
  void drop(Reason why) const noexcept { call_.batch.drop(number_, why); }
  /// For a reason that the function declares: the place in FunctionTraits::reasons.
  template <OwnReason Own>
  void drop(Own why) const noexcept {
    drop(call_.reason(why));
  }
  /// It has ended here as it should.
  void consume(Reason why) const noexcept { call_.batch.consume(number_, why); }
  /// It will leave by `port`, and goes on: functions behind this one see it, and may say otherwise.
  void send_to(std::uint8_t port) const noexcept { call_.batch.output[number_] = port; }
  /// It leaves by `port`; no function behind this one sees it.
  void send_now(std::uint8_t port) const noexcept { call_.batch.finish(number_, port); }
  /// Its bytes have become an answer, which leaves by `port`; no function behind this one sees it.
  /// `why`: what is generated (Reason::kReply, kReport).
  void answer(std::uint8_t port, Reason why) const noexcept {
    call_.batch.finish(number_, port, why);
  }
  /// A copy of it, as it is behind the last function, leaves by `port`; also if it is dropped.
  /// False: the side list has no room, and there will be no copy.
  [[nodiscard]] bool copy_to(std::uint8_t port) const noexcept {
    const SideList& side = call_.batch.side;
    if (!side.has_room()) return false;
    side.add({.packet = number_,
              .kind = static_cast<std::uint8_t>(SideKind::kCopy),
              .port = port,
              .why = static_cast<std::uint8_t>(Reason::kCopy)});
    return true;
  }
  /// As those of Batch: they move its first byte, or its last. False, and nothing changed: no room.
  /// An event moves them by these alone: headers() would not know.
  bool grow_front(std::int32_t bytes) noexcept {
    walked_ = false;
    return call_.batch.grow_front(number_, bytes);
  }
  bool grow_back(std::int32_t bytes) noexcept {
    walked_ = false;
    return call_.batch.grow_back(number_, bytes);
  }

  /// Gives it the classes of `mask`, beside those that it has. Bits of PlanFunction::class_mask.
  void set_classes(std::uint32_t mask) const noexcept {
    call_.batch.classes[number_] |= mask;
    call_.counters.classed(mask);
  }
  /// One more of counter `number`; nothing when there is no such counter.
  void hit(std::size_t number) const noexcept { call_.counters.hit(number); }
  /// Counts an alert.
  void alert() const noexcept { call_.counters.alert(); }
  /// Counts an alert and tells of it (`millrace events`): rule `rule`, of that name, took `action`.
  void alert(std::uint32_t rule, std::string_view name, EventAction action) const noexcept {
    alert();
    call_.events.alert(number_, rule, name, action);
  }

 private:
  /// `offset`: of headers_; 0: not there.
  std::span<std::byte> from(std::uint16_t offset) const noexcept {
    if (offset == 0) return {};
    return bytes().subspan(offset, headers_.payload_end - std::size_t{offset});
  }

  const FinishContext& call_;
  const std::uint16_t number_;
  bool walked_ = false;
  PacketHeaders headers_;
};

/// The adapter. For each selected packet, in ascending order, it calls one event: the most specific
/// one of which the packet has all headers. An event that is not overridden calls the next more
/// general one, so the most specific one that is overridden decides:
///
///     tcp, udp -> ip -> ethernet -> passes
///
/// | event      | what is there for certain                                                    |
/// |------------|------------------------------------------------------------------------------|
/// | tcp()      | all headers up to that of TCP, whole, with its options                       |
/// | udp()      | all headers up to that of UDP, whole                                         |
/// | ip()       | IPv4: its header, whole, with its options. IPv6: its first 40 bytes          |
/// | ethernet() | nothing: it may be shorter than 14 bytes, or empty                           |
///
/// - Behind up to two VLAN tags it is the same; a frame with more is one of ethernet().
/// - A packet whose header is cut, or contradicts itself, is one of the more general event.
/// - A first fragment with its whole transport header is one of tcp() or udp(); the others are of
///   ip(). headers().fragment tells.
/// - IPv6 with extension headers that cannot be walked to the end (chain_breaks_off) is of ip().
///
/// So a function that filters by port decides in ip() about packets without ports: later fragments,
/// first ones that end before them, chains that break off.
class PacketFunction : public Function {
 public:
  /// Writes 0s.
  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept final;
  /// Calls the events.
  void finish(const FinishContext& call) noexcept final;

  virtual void ethernet(Packet&) noexcept {}
  virtual void ip(Packet& packet) noexcept { ethernet(packet); }
  virtual void udp(Packet& packet) noexcept { ip(packet); }
  virtual void tcp(Packet& packet) noexcept { ip(packet); }

 private:
  template <std::derived_from<PacketFunction> Own>
  friend std::unique_ptr<Function> make_packet_function(const FunctionContext& context);

  bool walks_ = true;  ///< false: every packet is one of ethernet()
};

/// Own overrides no event but ethernet(): headers need not be looked for.
template <typename Own>
concept WantsFramesAlone = requires {
  requires std::same_as<decltype(&Own::ip), void (PacketFunction::*)(Packet&) noexcept>;
  requires std::same_as<decltype(&Own::udp), void (PacketFunction::*)(Packet&) noexcept>;
  requires std::same_as<decltype(&Own::tcp), void (PacketFunction::*)(Packet&) noexcept>;
};

/// MakeFunction of a row for the function `Own`: made from the context when it takes one. The
/// compiler sees which events Own overrides; where that is ethernet() alone, headers are not walked
/// over. Throws what Own's constructor throws.
template <std::derived_from<PacketFunction> Own>
std::unique_ptr<Function> make_packet_function(const FunctionContext& context) {
  std::unique_ptr<PacketFunction> made;
  if constexpr (std::constructible_from<Own, const FunctionContext&>) {
    made = std::make_unique<Own>(context);
  } else {
    made = std::make_unique<Own>();
  }
  made->walks_ = !WantsFramesAlone<Own>;
  return made;
}

}  // namespace millrace
