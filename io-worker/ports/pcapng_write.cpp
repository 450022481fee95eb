// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_write.hpp"

#include <cstring>
#include <span>

#include "io-worker/ports/pcapng_format.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kInterfaceStatistics = 5;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kVersion = 1;  // major 1 in the low half, minor 0
constexpr std::uint64_t kUnknownLength = UINT64_MAX;

constexpr std::uint16_t kOptionEnd = 0;
constexpr std::uint16_t kOptionComment = 1;
constexpr std::uint16_t kSectionProgram = 4;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kInterfaceResolution = 9;
constexpr std::uint16_t kInterfaceFilter = 11;
constexpr std::uint16_t kPacketFlags = 2;
constexpr std::uint16_t kStatisticsReceived = 4;
constexpr std::uint16_t kStatisticsLost = 5;
constexpr std::uint8_t kNanoseconds = 9;  // 10^-9 s

template <typename Number>
std::span<const std::byte> bytes_of(const Number& number) {
  return std::as_bytes(std::span(&number, 1));
}

/// One block, from its type until end() writes its length in both places.
class Block {
 public:
  Block(std::vector<std::byte>& to, std::uint32_t type) : to_(to), begin_(to.size()) {
    put(type);
    put(std::uint32_t{0});  // the length, once it is known
  }
  void end() {
    if (has_options_) put(std::uint32_t{kOptionEnd});
    const auto bytes = static_cast<std::uint32_t>(to_.size() - begin_ + sizeof(std::uint32_t));
    put(bytes);
    std::memcpy(to_.data() + begin_ + sizeof bytes, &bytes, sizeof bytes);
  }
  template <typename Number>
  void put(Number number) {
    put_padded(bytes_of(number));
  }
  /// The high half first.
  void put_time(std::uint64_t time_ns) {
    put(static_cast<std::uint32_t>(time_ns >> 32));
    put(static_cast<std::uint32_t>(time_ns));
  }
  /// With zeros up to a multiple of 4.
  void put_padded(std::span<const std::byte> bytes) {
    to_.insert(to_.end(), bytes.begin(), bytes.end());
    to_.resize(to_.size() + (4 - bytes.size() % 4) % 4);
  }
  void option(std::uint16_t code, std::span<const std::byte> value) {
    has_options_ = true;
    put(static_cast<std::uint32_t>(value.size()) << 16 | code);
    put_padded(value);
  }
  void option(std::uint16_t code, std::string_view text) {
    constexpr std::size_t kTextMax = 1024;
    if (!text.empty()) option(code, std::as_bytes(std::span(text.substr(0, kTextMax))));
  }

 private:
  std::vector<std::byte>& to_;
  std::size_t begin_;
  bool has_options_ = false;
};

}  // namespace

void put_pcapng_section(std::vector<std::byte>& to, std::string_view program) {
  Block block(to, kPcapngSectionHeader);
  block.put(kByteOrderMagic);
  block.put(kVersion);
  block.put(kUnknownLength);
  block.option(kSectionProgram, program);
  block.end();
}

void put_pcapng_interface(std::vector<std::byte>& to, const PcapngInterface& interface) {
  Block block(to, kInterfaceDescription);
  block.put(kLinkTypeEthernet);
  block.put(interface.snap_length);
  block.option(kInterfaceName, interface.name);
  // A zero in front says that it is the text of a pcap filter.
  const std::string filter = std::string(1, '\0') + interface.filter;
  if (!interface.filter.empty()) block.option(kInterfaceFilter, filter);
  block.option(kInterfaceResolution, bytes_of(kNanoseconds));
  block.end();
}

void put_pcapng_packet(std::vector<std::byte>& to, std::uint32_t interface,
                       const CaptureRecord& record, PcapngDirection direction,
                       std::string_view comment) {
  Block block(to, kEnhancedPacket);
  block.put(interface);
  block.put_time(record.time_ns);
  block.put(static_cast<std::uint32_t>(record.bytes.size()));
  block.put(record.wire_length);
  block.put_padded(record.bytes);
  if (direction != PcapngDirection::kUnknown) {
    block.option(kPacketFlags, bytes_of(static_cast<std::uint32_t>(direction)));
  }
  block.option(kOptionComment, comment);
  block.end();
}

void put_pcapng_statistics(std::vector<std::byte>& to, std::uint32_t interface,
                           std::uint64_t time_ns, std::uint64_t written, std::uint64_t missed) {
  Block block(to, kInterfaceStatistics);
  block.put(interface);
  block.put_time(time_ns);
  block.option(kStatisticsReceived, bytes_of(written + missed));
  block.option(kStatisticsLost, bytes_of(missed));
  block.end();
}

}  // namespace millrace
