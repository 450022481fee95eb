// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io-worker/ports/capture_record.hpp"
#include "shared/base/unique_fd.hpp"

/// Writes a pcapng (draft-ietf-opsawg-pcapng) for Wireshark: Ethernet, nanoseconds, each place that
/// was looked at as an interface of its own, its packets lost to the capture in the statistics at
/// the end.

namespace millrace {

struct PcapngInterface {
  std::string name;
  std::string filter;             ///< text of the pcap filter; empty: none
  std::uint32_t snap_length = 0;  ///< 0: packets are whole
};

enum class PcapngDirection : std::uint8_t { kUnknown = 0, kIn = 1, kOut = 2 };

class PcapngWriter {
 public:
  /// `file`: open for writing; a pipe may be.
  PcapngWriter(UniqueFd file, const std::vector<PcapngInterface>& interfaces);
  /// `interface`: number in the list. `comment`: empty: none.
  void packet(std::uint32_t interface, const CaptureRecord& record, PcapngDirection direction,
              const std::string& comment);
  /// Interface statistics, at the end. `missed`: packets that the capture lost.
  void statistics(std::uint32_t interface, std::uint64_t time_ns, std::uint64_t written,
                  std::uint64_t missed);
  /// Hands on what is buffered. False when nobody reads it any more. Throws Error when it cannot be
  /// written.
  bool flush();

 private:
  void begin(std::uint32_t type);
  void end();
  void put(std::uint32_t number);
  void put(std::uint64_t number);
  void put_bytes(std::span<const std::byte> bytes);
  void put_option(std::uint16_t code, std::span<const std::byte> value);
  void put_option(std::uint16_t code, const std::string& text);
  void end_options();
  void section();
  void interface(const PcapngInterface& interface);

  UniqueFd file_;
  std::vector<std::byte> buffer_;
  std::size_t block_ = 0;  ///< where the present block begins
};

}  // namespace millrace
