// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "io-worker/ports/capture_record.hpp"
#include "io-worker/ports/file_window.hpp"
#include "io-worker/ports/pcap_format.hpp"
#include "io-worker/ports/pcapng_format.hpp"

namespace millrace {

/// Reads a capture of Ethernet packets, pcap or pcapng, told apart by their first bytes. Whatever
/// the file holds, nothing outside it is read, and after kTruncated or kCorrupt the reader stays
/// there. Blocks as read(2) does; allocates at construction only.
class CaptureReader {
 public:
  /// Throws Error with the path: not readable, not a capture, or not of Ethernet (link type 1).
  explicit CaptureReader(const std::string& path);
  /// The same over an open file; `path` is for errors.
  CaptureReader(UniqueFd file, const std::string& path);

  /// The next packet into `record`, or why there is none; then always the same.
  CaptureStatus next(CaptureRecord& record) noexcept;
  /// File offset behind the last record that next() gave (classic pcap).
  std::uint64_t offset() const { return window_.offset(); }
  /// Of a classic pcap file; null for pcapng.
  const PcapFormat* pcap_format() const { return std::get_if<PcapFormat>(&format_); }

 private:
  void open();

  FileWindow window_;
  std::variant<PcapFormat, PcapngReader> format_;
  CaptureStatus status_ = CaptureStatus::kRecord;
};

}  // namespace millrace
