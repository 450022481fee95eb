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
#include "io-worker/ports/trouble.hpp"

namespace millrace {

/// Reads a capture of Ethernet packets, pcap or pcapng, told apart by their first bytes. Whatever
/// the file holds, nothing outside it is read, and after the last packet the reader stays there.
/// Packets of other link types are stepped over, and counted. Blocks as read(2) does; allocates at
/// construction only.
class CaptureReader {
 public:
  /// Throws Error with the path: not readable, not a capture, or with packets of which none is of
  /// Ethernet (link type 1). A pipe is not searched for the first Ethernet packet.
  explicit CaptureReader(const std::string& path);
  /// The same over an open file; `path` is for errors.
  CaptureReader(UniqueFd file, const std::string& path);

  /// Reads the next packet into `record`, or returns why there is none; from then on always that.
  CaptureStatus next(CaptureRecord& record) noexcept;
  /// Packets of other link types than Ethernet so far.
  std::uint64_t skipped() const noexcept;
  /// Counts those, and a record at which the file ends too early.
  std::uint64_t errors() const noexcept;
  /// What of the file was not read, and why: "ends in a record that is incomplete, behind 3
  /// packets; ..."; empty: nothing so far. Allocates nothing.
  TroubleText trouble() const noexcept;
  /// The same as a sentence about the file, of which the path's end is shown when it is long.
  TroubleText trouble_of(const std::string& path) const noexcept;
  /// File offset behind the last record that next() gave (classic pcap).
  std::uint64_t offset() const { return window_.offset(); }
  /// The format of a classic pcap file; null for pcapng.
  const PcapFormat* pcap_format() const { return std::get_if<PcapFormat>(&format_); }

 private:
  void open();
  void open_pcapng();

  FileWindow window_;
  std::variant<PcapFormat, PcapngReader> format_;
  CaptureStatus status_ = CaptureStatus::kRecord;
  std::uint64_t packets_ = 0;  ///< that next() gave
};

}  // namespace millrace
