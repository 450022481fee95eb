// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/packet_maker.hpp"

#include <cstring>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kIpOffset = 14;
constexpr std::uint32_t kIpBytes = 20;
constexpr std::uint32_t kChecksumOffset = 24;
constexpr std::uint32_t kSourceOffset = 26;
constexpr std::uint32_t kDestinationOffset = 30;
constexpr std::uint32_t kPortsOffset = 34;
constexpr std::uint32_t kUdpLengthOffset = 38;
constexpr std::uint32_t kTcpSequenceOffset = 38;
constexpr std::uint32_t kTcpFlagsOffset = 46;
constexpr std::uint32_t kTcpChecksumOffset = 50;
constexpr std::uint32_t kTcpEnd = 54;
constexpr std::uint32_t kSourceBase = 0xc6120000;  // 198.18.0.0/15
constexpr std::uint32_t kDestinationPort = 4096;   // and the stream's number
using ip_protocol::kTcp, ip_protocol::kUdp;
constexpr std::uint32_t kTcpSyn = 0x5002;  // five words of header
constexpr std::uint32_t kTcpWindow = 0xffff;

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;

// The mixing of splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// A number below `limit` from the upper half of `random`.
std::uint64_t below(std::uint64_t random, std::uint64_t limit) noexcept {
  return (random >> 32) * limit >> 32;
}

void put16(std::byte* to, std::uint32_t value) noexcept {
  const auto big = __builtin_bswap16(static_cast<std::uint16_t>(value));
  std::memcpy(to, &big, sizeof(big));
}
void put32(std::byte* to, std::uint32_t value) noexcept {
  const std::uint32_t big = __builtin_bswap32(value);
  std::memcpy(to, &big, sizeof(big));
}
void put64(std::byte* to, std::uint64_t value) noexcept {
  const std::uint64_t big = __builtin_bswap64(value);
  std::memcpy(to, &big, sizeof(big));
}

std::uint32_t halves(std::uint32_t word) noexcept { return (word >> 16) + (word & 0xffff); }

// RFC 1071; a sum of up to 2^16 words of 16 bits is folded in two steps.
std::uint32_t checksum_of(std::uint32_t sum) noexcept { return ~halves(halves(sum)); }

void put_addresses(std::byte* frame, std::uint32_t source, std::uint32_t destination,
                   std::uint32_t sum) noexcept {
  put32(frame + kSourceOffset, source);
  put32(frame + kDestinationOffset, destination);
  put16(frame + kChecksumOffset, checksum_of(sum + halves(source) + halves(destination)));
}

}  // namespace

PacketMaker::PacketMaker(const GenerateSettings& settings, MacAddress destination,
                         std::uint32_t stream)
    : destinations_(settings.destinations),
      flows_(settings.flows),
      sources_(settings.sources),
      seed_(mix(settings.seed + stream * kGolden)),
      numbered_(settings.numbered),
      syn_(settings.syn),
      stream_(stream) {
  for (const std::uint64_t size : settings.sizes) {
    templates_.push_back(make_template(static_cast<std::uint32_t>(size), destination));
  }
}

PacketMaker::Template PacketMaker::make_template(std::uint32_t size, MacAddress destination) const {
  Template made;
  made.bytes.resize(size);
  std::byte* frame = made.bytes.data();
  put16(frame + 6, 0x0267);  // a locally administered source
  put32(frame + 8, stream_);
  const std::span<std::byte> bytes(made.bytes);
  put_ethernet(bytes, wire_bytes::array_at<MacAddress>(bytes, sizeof destination), destination,
               ipv4_wire::kTypeIpv4);
  const std::uint8_t protocol = syn_ ? kTcp : kUdp;
  // The smallest SYN is padded; a longer one has data.
  const std::uint32_t length =
      syn_ && size == kGenerateSizeMin ? kTcpEnd - kIpOffset : size - kIpOffset;
  put_ipv4(bytes.subspan(kIpOffset), {.fragment = ipv4_wire::kDontFragment, .protocol = protocol},
           length - kIpBytes);
  // Its addresses are 0 so far: the sum of all other words.
  made.ip_checksum = static_cast<std::uint16_t>(~wire_bytes::u16(bytes, kChecksumOffset));
  if (syn_) {
    put16(frame + kTcpFlagsOffset, kTcpSyn);
    put16(frame + kTcpFlagsOffset + 2, kTcpWindow);
    made.tcp_checksum = kTcp + (length - kIpBytes) + kTcpSyn + kTcpWindow;
  } else {
    put16(frame + kPortsOffset + 2, kDestinationPort + stream_);
    put16(frame + kUdpLengthOffset, size - kPortsOffset);
  }
  return made;
}

void PacketMaker::seek(std::uint64_t ordinal) noexcept {
  ordinal_ = ordinal;
  flow_ = ordinal % flows_;
  source_ = flow_ % sources_;
  port_ = flow_ / sources_;
  number_in_flow_ = ordinal / flows_;
}

void PacketMaker::next_flow() noexcept {
  ++ordinal_;
  if (++source_ == sources_) {
    source_ = 0;
    ++port_;
  }
  if (++flow_ == flows_) {
    flow_ = source_ = port_ = 0;
    ++number_in_flow_;
  }
}

const PacketMaker::Template& PacketMaker::choose_template() const noexcept {
  if (templates_.size() == 1) return templates_[0];
  return templates_[below(mix(seed_ ^ ~ordinal_), templates_.size())];
}

std::uint32_t PacketMaker::destination_of(std::uint64_t random) const noexcept {
  const Ipv4Prefix& prefix =
      destinations_[destinations_.size() == 1 ? 0 : below(random, destinations_.size())];
  return prefix.address | (static_cast<std::uint32_t>(random) & prefix.host_mask);
}

void PacketMaker::put_numbers(std::byte* payload, std::uint64_t time_ns) const noexcept {
  put64(payload, kNumberedMagic);
  put32(payload + 8, stream_);
  put32(payload + 12, static_cast<std::uint32_t>(flow_));
  put64(payload + 16, ordinal_);
  put64(payload + 24, number_in_flow_);
  put64(payload + 32, time_ns);
}

void PacketMaker::put_of_flow(const Template& from, std::byte* frame) const noexcept {
  const std::uint32_t source = kSourceBase | static_cast<std::uint32_t>(source_);
  const std::uint32_t destination = destination_of(mix(seed_ + flow_));
  put_addresses(frame, source, destination, from.ip_checksum);
  put16(frame + kPortsOffset, kGenerateSourcePortFirst + static_cast<std::uint32_t>(port_));
}

void PacketMaker::put_syn(const Template& from, std::byte* frame) const noexcept {
  const std::uint64_t first = mix(seed_ + ordinal_);
  const std::uint64_t second = mix(first + kGolden);
  const std::uint64_t third = mix(second + kGolden);
  const auto source = kSourceBase | static_cast<std::uint32_t>(below(second, sources_));
  const std::uint32_t destination = destination_of(first);
  const auto sequence = static_cast<std::uint32_t>(second);
  const auto from_port =
      kGenerateSourcePortFirst + static_cast<std::uint32_t>(below(third, kGenerateSourcePortCount));
  const auto to_port = 1 + static_cast<std::uint32_t>(below(third << 32, 65535));
  put_addresses(frame, source, destination, from.ip_checksum);
  put16(frame + kPortsOffset, from_port);
  put16(frame + kPortsOffset + 2, to_port);
  put32(frame + kTcpSequenceOffset, sequence);
  put16(frame + kTcpChecksumOffset,
        checksum_of(from.tcp_checksum + halves(source) + halves(destination) + from_port + to_port +
                    halves(sequence)));
}

std::uint32_t PacketMaker::make(std::byte* to, std::uint64_t time_ns) noexcept {
  const Template& from = choose_template();
  const std::size_t size = from.bytes.size();
  std::memcpy(to, from.bytes.data(), size);
  if (syn_) {
    put_syn(from, to);
  } else {
    put_of_flow(from, to);
    if (numbered_) put_numbers(to + kNumberedOffset, time_ns);
  }
  next_flow();
  return static_cast<std::uint32_t>(size);
}

}  // namespace millrace
