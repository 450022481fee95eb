// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/packet_maker.hpp"

#include <cstring>

namespace millrace {
namespace {

constexpr std::uint32_t kIpOffset = 14;
constexpr std::uint32_t kChecksumOffset = 24;
constexpr std::uint32_t kSourceOffset = 26;
constexpr std::uint32_t kDestinationOffset = 30;
constexpr std::uint32_t kUdpOffset = 34;
constexpr std::uint32_t kSourceBase = 0xc6120000;  // 198.18.0.0/15
constexpr std::uint32_t kSourceBits = 17;
constexpr std::uint32_t kFirstPort = 1024;
constexpr std::uint32_t kDestinationPort = 4096;  // and the stream's number

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

}  // namespace

PacketMaker::PacketMaker(const GenerateSettings& settings, MacAddress destination,
                         std::uint32_t stream)
    : destinations_(settings.destinations),
      flows_(settings.flows),
      seed_(mix(settings.seed + stream * 0x9e3779b97f4a7c15ull)),
      numbered_(settings.numbered),
      stream_(stream) {
  for (const std::uint64_t size : settings.sizes) {
    templates_.push_back(make_template(static_cast<std::uint32_t>(size), destination));
  }
}

PacketMaker::Template PacketMaker::make_template(std::uint32_t size, MacAddress destination) const {
  Template made;
  made.bytes.resize(size);
  std::byte* frame = made.bytes.data();
  std::memcpy(frame, destination.data(), destination.size());
  put16(frame + 6, 0x0267);  // a locally administered source
  put32(frame + 8, stream_);
  put16(frame + 12, 0x0800);
  std::byte* ip = frame + kIpOffset;
  put16(ip, 0x4500);
  put16(ip + 2, size - kIpOffset);
  put16(ip + 6, 0x4000);
  put16(ip + 8, 64 << 8 | 17);
  put16(frame + kUdpOffset + 2, kDestinationPort + stream_);
  put16(frame + kUdpOffset + 4, size - kUdpOffset);
  made.checksum = 0x4500 + (size - kIpOffset) + 0x4000 + (64 << 8 | 17);
  return made;
}

void PacketMaker::seek(std::uint64_t ordinal) noexcept {
  ordinal_ = ordinal;
  flow_ = ordinal % flows_;
  number_in_flow_ = ordinal / flows_;
}

const PacketMaker::Template& PacketMaker::choose_template() const noexcept {
  if (templates_.size() == 1) return templates_[0];
  return templates_[below(mix(seed_ ^ ~ordinal_), templates_.size())];
}

std::uint32_t PacketMaker::destination_of(std::uint64_t flow) const noexcept {
  const std::uint64_t random = mix(seed_ + flow);
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

std::uint32_t PacketMaker::make(std::byte* to, std::uint64_t time_ns) noexcept {
  const Template& from = choose_template();
  const std::size_t size = from.bytes.size();
  std::memcpy(to, from.bytes.data(), size);
  const auto flow = static_cast<std::uint32_t>(flow_);
  const std::uint32_t source = kSourceBase | (flow & ((1u << kSourceBits) - 1));
  const std::uint32_t destination = destination_of(flow_);
  put32(to + kSourceOffset, source);
  put32(to + kDestinationOffset, destination);
  put16(to + kUdpOffset, kFirstPort + (flow >> kSourceBits));
  // RFC 1071; the sum of ten words folds to 16 bits in two steps.
  const std::uint32_t sum = halves(from.checksum + halves(source) + halves(destination));
  put16(to + kChecksumOffset, ~halves(sum));
  if (numbered_) put_numbers(to + kNumberedOffset, time_ns);
  ++ordinal_;
  if (++flow_ == flows_) {
    flow_ = 0;
    ++number_in_flow_;
  }
  return static_cast<std::uint32_t>(size);
}

}  // namespace millrace
