// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pcapng_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io-worker/ports/pcapng_format.hpp"
#include "shared/base/error.hpp"

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
constexpr std::uint8_t kNanoseconds = 9;

template <typename Number>
std::span<const std::byte> bytes_of(const Number& number) {
  return std::as_bytes(std::span(&number, 1));
}

}  // namespace

PcapngWriter::PcapngWriter(UniqueFd file, const std::vector<PcapngInterface>& interfaces)
    : file_(std::move(file)) {
  section();
  for (const PcapngInterface& one : interfaces) interface(one);
}

void PcapngWriter::put(std::uint32_t number) { put_bytes(bytes_of(number)); }
void PcapngWriter::put(std::uint64_t number) { put_bytes(bytes_of(number)); }

/// With zeros up to a multiple of 4.
void PcapngWriter::put_bytes(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  buffer_.resize(buffer_.size() + (4 - bytes.size() % 4) % 4);
}

void PcapngWriter::put_option(std::uint16_t code, std::span<const std::byte> value) {
  put(static_cast<std::uint32_t>(value.size()) << 16 | code);
  put_bytes(value);
}

void PcapngWriter::put_option(std::uint16_t code, const std::string& text) {
  constexpr std::size_t kTextMax = 1024;
  if (text.empty()) return;
  put_option(code, std::as_bytes(std::span(text)).first(std::min(text.size(), kTextMax)));
}

void PcapngWriter::end_options() { put(std::uint32_t{kOptionEnd}); }

void PcapngWriter::begin(std::uint32_t type) {
  block_ = buffer_.size();
  put(type);
  put(std::uint32_t{0});
}

void PcapngWriter::end() {
  const auto bytes = static_cast<std::uint32_t>(buffer_.size() - block_ + sizeof(std::uint32_t));
  put(bytes);
  std::memcpy(buffer_.data() + block_ + sizeof bytes, &bytes, sizeof bytes);
}

void PcapngWriter::section() {
  begin(kPcapngSectionHeader);
  put(kByteOrderMagic);
  put(kVersion);
  put(kUnknownLength);
  put_option(kSectionProgram, "millrace capture");
  end_options();
  end();
}

void PcapngWriter::interface(const PcapngInterface& interface) {
  begin(kInterfaceDescription);
  put(kLinkTypeEthernet);
  put(interface.snap_length);
  put_option(kInterfaceName, interface.name);
  // A zero in front says that it is the text of a pcap filter.
  if (!interface.filter.empty())
    put_option(kInterfaceFilter, std::string(1, '\0') + interface.filter);
  put_option(kInterfaceResolution, bytes_of(kNanoseconds));
  end_options();
  end();
}

void PcapngWriter::packet(std::uint32_t interface, const CaptureRecord& record,
                          PcapngDirection direction, const std::string& comment) {
  begin(kEnhancedPacket);
  put(interface);
  put(static_cast<std::uint32_t>(record.time_ns >> 32));
  put(static_cast<std::uint32_t>(record.time_ns));
  put(static_cast<std::uint32_t>(record.bytes.size()));
  put(record.wire_length);
  put_bytes(record.bytes);
  if (direction != PcapngDirection::kUnknown) {
    put_option(kPacketFlags, bytes_of(static_cast<std::uint32_t>(direction)));
  }
  put_option(kOptionComment, comment);
  if (direction != PcapngDirection::kUnknown || !comment.empty()) end_options();
  end();
}

void PcapngWriter::statistics(std::uint32_t interface, std::uint64_t time_ns, std::uint64_t written,
                              std::uint64_t missed) {
  const std::uint64_t received = written + missed;
  begin(kInterfaceStatistics);
  put(interface);
  put(static_cast<std::uint32_t>(time_ns >> 32));
  put(static_cast<std::uint32_t>(time_ns));
  put_option(kStatisticsReceived, bytes_of(received));
  put_option(kStatisticsLost, bytes_of(missed));
  end_options();
  end();
}

bool PcapngWriter::flush() {
  std::span<const std::byte> rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw system_error("write the capture", errno);
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return true;
}

}  // namespace millrace
