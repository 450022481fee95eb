// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io-worker/ports/capture_record.hpp"
#include "orchestration/cli/record_file.hpp"

namespace millrace {

/// Writes an Ethernet pcap with nanoseconds, as the `pcap` port does. Throws Error that names the
/// path; the file then ends behind a whole record.
class CaptureWriter {
 public:
  explicit CaptureWriter(const std::string& path);
  void write(const CaptureRecord& record);
  /// All is in the file when this returns.
  void finish() { file_.flush(); }

 private:
  void append(std::span<const std::byte> bytes);

  RecordFile file_;
};

}  // namespace millrace
