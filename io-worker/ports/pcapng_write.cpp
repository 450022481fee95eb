// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_write.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "io-worker/ports/pcapng_format.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint16_t kOptionEnd = 0;
constexpr std::uint16_t kOptionComment = 1;
constexpr std::uint16_t kOptionResolution = 9;
constexpr std::uint8_t kNanoseconds = 9;  // 10^-9 s

template <typename Number>
void put(std::vector<std::byte>& to, Number number) {
  const auto* const from = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), from, from + sizeof number);
}

void put_padded(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
  to.resize(to.size() + (4 - bytes.size() % 4) % 4);
}

void put_option(std::vector<std::byte>& to, std::uint16_t code, std::span<const std::byte> value) {
  put(to, code);
  put(to, static_cast<std::uint16_t>(value.size()));
  put_padded(to, value);
}

void put_option_end(std::vector<std::byte>& to) { put_option(to, kOptionEnd, {}); }

/// Type and length; end_block() knows the length.
std::size_t begin_block(std::vector<std::byte>& to, std::uint32_t type) {
  const std::size_t at = to.size();
  put(to, type);
  put(to, std::uint32_t{0});
  return at;
}

void end_block(std::vector<std::byte>& to, std::size_t at) {
  const auto bytes = static_cast<std::uint32_t>(to.size() - at + sizeof(std::uint32_t));
  put(to, bytes);
  std::memcpy(to.data() + at + sizeof bytes, &bytes, sizeof bytes);
}

}  // namespace

void put_pcapng_header(std::vector<std::byte>& to) {
  const std::size_t section = begin_block(to, kPcapngSectionHeader);
  put(to, kByteOrderMagic);
  put(to, std::uint16_t{1});  // version 1.0
  put(to, std::uint16_t{0});
  put(to, UINT64_MAX);  // length of the section: not known
  end_block(to, section);
  const std::size_t interface = begin_block(to, kInterfaceDescription);
  put(to, static_cast<std::uint16_t>(kLinkTypeEthernet));
  put(to, std::uint16_t{0});
  put(to, kCaptureLengthMax);
  put_option(to, kOptionResolution, std::as_bytes(std::span(&kNanoseconds, 1)));
  put_option_end(to);
  end_block(to, interface);
}

void put_pcapng_packet(std::vector<std::byte>& to, const CaptureRecord& record,
                       std::string_view comment) {
  const std::size_t block = begin_block(to, kEnhancedPacket);
  put(to, std::uint32_t{0});  // interface
  put(to, static_cast<std::uint32_t>(record.time_ns >> 32));
  put(to, static_cast<std::uint32_t>(record.time_ns));
  put(to, static_cast<std::uint32_t>(record.bytes.size()));
  put(to, record.wire_length);
  put_padded(to, record.bytes);
  if (!comment.empty()) {
    const std::string_view shown = comment.substr(0, UINT16_MAX);
    put_option(to, kOptionComment, std::as_bytes(std::span(shown)));
    put_option_end(to);
  }
  end_block(to, block);
}

}  // namespace millrace
