// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/packet_function.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Frames of each event, and one call of a function of packets.

namespace millrace {

// Frames of Scapy.
// clang-format off
inline constexpr std::string_view kUdpFrame =
    "02000000000102000000000208004500001f000100004011aebe0a010005c000020913880035000b539861736b";
inline constexpr std::string_view kTcpWithOptionsFrame =
    "02000000000102000000000208004500002c000100004006aebc0a010005c00002099c4000500000000000000000"
    "600220000f870000020405b4";
inline constexpr std::string_view kIcmpFrame =
    "02000000000102000000000208004500001c000100004001aed10a010005c00002090800f7ff00000000";
inline constexpr std::string_view kArpFrame =
    "020000000001020000000002080600010800060400010000000000000000000000000000000000000000";
inline constexpr std::string_view kVlanUdpFrame =
    "02000000000102000000000281000064080045"
    "00001f000100004011aebe0a010005c000020913880035000b539861736b";
inline constexpr std::string_view kTwoTagsTcpIpv6Frame =
    "02000000000102000000000288a800078100006486dd600000000014064020010db8000000000000000000000005"
    "20010db80001000000000000000000099c40005000000000000000005002200097d10000";
inline constexpr std::string_view kThreeTagsUdpFrame =
    "0200000000010200000000028100000181000002810000030800"
    "4500001f000100004011aebe0a010005c000020913880035000b539861736b";
inline constexpr std::string_view kUdpIpv6Frame =
    "02000000000102000000000286dd60000000000b114020010db8000000000000000000000005"
    "20010db800010000000000000000000913880035000bc42661736b";
inline constexpr std::string_view kUdpBehindOptionsIpv6Frame =
    "02000000000102000000000286dd6000000000133c4020010db8000000000000000000000005"
    "20010db8000100000000000000000009110001040000000013880035000bc42661736b";
inline constexpr std::string_view kIcmpIpv6Frame =
    "02000000000102000000000286dd6000000000083a4020010db8000000000000000000000005"
    "20010db80001000000000000000000098000243c00000000";
inline constexpr std::string_view kFirstFragmentFrame =
    "02000000000102000000000208004500002c0001200040118eb10a010005c0000209"
    "138800350030b65878787878787878787878787878787878";
inline constexpr std::string_view kLaterFragmentFrame =
    "02000000000102000000000208004500002c000100034011aeae0a010005c0000209"
    "787878787878787878787878787878787878787878787878";
inline constexpr std::string_view kTinyFragmentTcpFrame =
    "02000000000102000000000208004500001c0001200040068ecc0a010005c00002099c40005000000000";
inline constexpr std::string_view kFirstFragmentIpv6Frame =
    "02000000000102000000000286dd6000000000202c4020010db800000000000000000000000520010db8000100000"
    "0000000000000091100000100000009138800350030000178787878787878787878787878787878";
inline constexpr std::string_view kLaterFragmentIpv6Frame =
    "02000000000102000000000286dd6000000000202c4020010db800000000000000000000000520010db8000100000"
    "0000000000000091100001800000009787878787878787878787878787878787878787878787878";
inline constexpr std::string_view kNineExtensionsUdpFrame =
    "02000000000102000000000286dd6000000000533c4020010db800000000000000000000000520010db8000100000"
    "0000000000000093c000104000000003c000104000000003c000104000000003c000104000000003c0001040000"
    "00003c000104000000003c000104000000003c00010400000000110001040000000013880035000bc42661736b";
// clang-format on

/// The bytes of `hex`.
inline Frame frame_of_hex(std::string_view hex) {
  Frame frame;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    frame.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return frame;
}

/// A batch of frames, and one call of a function with all or some of them.
struct PacketCall {
  explicit PacketCall(const std::vector<Frame>& frames) : batch(batch_of(arena, frames)) {
    for (std::uint16_t i = 0; i < frames.size(); ++i) selected.push_back(i);
  }
  PacketCall(const PacketCall&) = delete;
  PacketCall& operator=(const PacketCall&) = delete;

  FinishContext context() {
    return {batch, {selected}, batch.results(0), {hits, &tally}, {}, facts, {}, reason_numbers};
  }
  void run(Function& function) {
    function.compute(batch, {selected}, batch.results(0));
    function.finish(context());
  }
  /// The function as a worker makes it.
  template <typename Own>
  void run() {
    const PlanFunction plan;
    run(*make_packet_function<Own>({.function = plan, .ports = {}}));
  }
  Reason reason(std::uint32_t packet) const { return static_cast<Reason>(batch.reason[packet]); }

  BatchArena arena{kBatchCapacityMax};
  Batch batch;
  std::vector<std::uint16_t> selected;
  std::array<std::uint64_t, 2> hits{};
  FunctionTally tally{};
  std::vector<std::uint8_t> reason_numbers;
  BatchFacts facts{.port_in = 3, .now_ns = 77};
};

/// The bytes as characters.
inline std::string characters_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  return text;
}

/// Writes down which events it was called by: e, i, u or t.
struct PacketWitness final : PacketFunction {
  void ethernet(Packet& packet) noexcept override { note('e', packet); }
  void ip(Packet& packet) noexcept override { note('i', packet); }
  void udp(Packet& packet) noexcept override { note('u', packet); }
  void tcp(Packet& packet) noexcept override { note('t', packet); }
  void note(char event, const Packet& packet) noexcept {
    events += event;
    numbers.push_back(packet.number());
  }
  std::string events;
  std::vector<std::uint16_t> numbers;
};

/// What a PacketWitness writes down.
inline std::string events_of(const std::vector<Frame>& frames) {
  PacketCall call(frames);
  PacketWitness witness;
  call.run(witness);
  return witness.events;
}

inline std::string events_of(std::string_view hex) {
  return events_of(std::vector<Frame>{frame_of_hex(hex)});
}

}  // namespace millrace
