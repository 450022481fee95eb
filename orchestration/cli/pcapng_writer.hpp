// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io-worker/ports/pcapng_write.hpp"
#include "orchestration/cli/record_file.hpp"
#include "shared/base/unique_fd.hpp"

/// Writes a pcapng for Wireshark: each place that was looked at is an interface of its own; what
/// the capture lost of its packets is in the statistics at the end.

namespace millrace {

class PcapngWriter {
 public:
  /// `file`: open for writing; a pipe may be. `name`: of it, in errors.
  PcapngWriter(UniqueFd file, const std::vector<PcapngInterface>& interfaces, std::string name);
  /// `interface`: number in the list. `comment`: empty: none.
  void packet(std::uint32_t interface, const CaptureRecord& record, PcapngDirection direction,
              std::string_view comment) {
    put_pcapng_packet(file_.buffer(), interface, record, direction, comment);
    file_.end_record();
  }
  /// Interface statistics, at the end. `missed`: packets that the capture lost.
  void statistics(std::uint32_t interface, std::uint64_t time_ns, std::uint64_t written,
                  std::uint64_t missed) {
    put_pcapng_statistics(file_.buffer(), interface, time_ns, written, missed);
    file_.end_record();
  }
  /// Hands on what is buffered. False when its reader has gone, also with nothing to hand on.
  /// Throws Error when it cannot be written; the file then ends behind a whole block.
  bool flush() { return file_.flush(); }
  /// Of the file, with what is buffered.
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  RecordFile file_;
};

}  // namespace millrace
