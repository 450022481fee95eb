// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, behind two that say an MTU: nothing of ARP, ICMP and IPv4 reads outside (each copy has
// no byte to spare, so the sanitizer sees it), what is refused stays as it is, and what is written
// is read back.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/packet/arp.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_fragments.hpp"
#include "shared/packet/ipv4_options.hpp"

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kEthernetBytes = 14;
constexpr std::uint32_t kOwnAddress = 0xc0000201, kTimeMs = 0x01020304;

Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

std::size_t number16(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes[at]) << 8 | std::to_integer<std::size_t>(bytes[at + 1]);
}

std::size_t header_bytes(std::span<const std::byte> packet) {
  return std::to_integer<std::size_t>(packet[0]) % 16 * 4;
}

void try_arp(const Bytes& frame) {
  millrace::ArpPacket packet = {};
  if (!millrace::parse_arp(frame, packet)) return;
  millrace::MacAddress to, from;
  std::memcpy(to.data(), frame.data(), to.size());
  std::memcpy(from.data(), frame.data() + to.size(), from.size());
  Bytes written(millrace::kArpFrameBytes);
  millrace::write_arp(written, from, to, packet);
  MILLRACE_CHECK(std::equal(written.begin(), written.end(), frame.begin()));
}

void try_error(const Bytes& packet) {
  if (!millrace::may_answer_ipv4(packet)) return;
  const auto quote = std::span(packet).first(millrace::icmp_quote_bytes(packet.size()));
  Bytes error(millrace::kIcmpErrorFrontBytes);
  millrace::write_icmp_error(error, quote, {}, {}, kOwnAddress, 0x0a010005,
                             millrace::kIcmpTimeExceeded);
  error.insert(error.end(), quote.begin(), quote.end());
  const auto written = std::span(error).subspan(kEthernetBytes);
  MILLRACE_CHECK(written.size() <= millrace::kIcmpErrorDatagramBytesMax);
  MILLRACE_CHECK(number16(written, 2) == written.size());
  MILLRACE_CHECK(millrace::internet_checksum(written.first(20)) == 0);
  MILLRACE_CHECK(millrace::internet_checksum(written.subspan(20)) == 0);
  MILLRACE_CHECK(!millrace::may_answer_ipv4(written));
}

void try_echo(const Bytes& frame) {
  Bytes reply = frame;
  if (!millrace::echo_reply_in_place(reply)) {
    MILLRACE_CHECK(reply == frame);
    return;
  }
  const auto packet = std::span(reply).subspan(kEthernetBytes);
  const std::size_t header = header_bytes(packet);
  MILLRACE_CHECK(millrace::internet_checksum(packet.first(header)) == 0);
  MILLRACE_CHECK(
      millrace::internet_checksum(packet.subspan(header, number16(packet, 2) - header)) == 0);
  MILLRACE_CHECK(packet[header] == std::byte{0});
  MILLRACE_CHECK(std::equal(reply.begin(), reply.begin() + 6, frame.begin() + 6));
  Bytes again = reply;
  MILLRACE_CHECK(!millrace::echo_reply_in_place(again) && again == reply);
}

/// The packet's start as a header, as long as it says where that is there.
void try_options(const Bytes& packet) {
  if (packet.size() < 20) return;
  Bytes header = copy_of(
      std::span(packet).first(std::clamp<std::size_t>(header_bytes(packet), 20, packet.size())));
  const Bytes before = header;
  const millrace::Ipv4OptionsVerdict checked = millrace::check_ipv4_options(header);
  MILLRACE_CHECK(header == before);
  const millrace::Ipv4OptionsVerdict applied =
      millrace::apply_ipv4_options(header, kOwnAddress, kTimeMs);
  const bool changed = applied.result == millrace::Ipv4OptionsResult::kChanged;
  MILLRACE_CHECK(changed == (header != before));
  MILLRACE_CHECK(checked.result == millrace::Ipv4OptionsResult::kChanged || checked == applied);
  MILLRACE_CHECK(applied.pointer < header.size());
  // 0 and 0xffff are the same sum.
  MILLRACE_CHECK(millrace::internet_sum(header) % 0xffff ==
                 millrace::internet_sum(before) % 0xffff);
}

void try_fragments(const Bytes& packet, std::size_t mtu) {
  const millrace::Ipv4Fragments fragments(packet, mtu);
  Bytes out(mtu), data;
  for (std::uint32_t number = 0; number < fragments.count(); ++number) {
    const std::size_t bytes = fragments.write(number, out);
    MILLRACE_CHECK(bytes >= 20 && bytes <= mtu);
    const auto fragment = std::span(out).first(bytes);
    const std::size_t header = header_bytes(fragment);
    MILLRACE_CHECK(number16(fragment, 2) == bytes && header <= bytes);
    MILLRACE_CHECK((number16(fragment, 6) & 0x1fff) ==
                   (number16(packet, 6) & 0x1fff) + data.size() / 8);
    if (fragments.count() > 1) {
      MILLRACE_CHECK(millrace::internet_checksum(fragment.first(header)) == 0);
    }
    data.insert(data.end(), fragment.begin() + static_cast<std::ptrdiff_t>(header), fragment.end());
  }
  MILLRACE_CHECK(fragments.write(fragments.count(), out) == 0);
  if (fragments.count() == 0) return;
  const auto whole = std::span(packet).first(number16(packet, 2)).subspan(header_bytes(packet));
  MILLRACE_CHECK(std::equal(data.begin(), data.end(), whole.begin(), whole.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  const std::size_t mtu = number16(input, 0) % 2048;
  const Bytes frame = copy_of(input.subspan(2));
  const Bytes packet = copy_of(std::span(frame).subspan(std::min(frame.size(), kEthernetBytes)));
  try_arp(frame);
  try_error(packet);
  try_echo(frame);
  try_options(packet);
  try_fragments(packet, mtu);
  return 0;
}
