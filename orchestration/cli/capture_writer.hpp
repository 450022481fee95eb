// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include "io-worker/ports/capture_record.hpp"

namespace millrace {

/// Writes an Ethernet pcap with nanoseconds, as the `pcap` port does. Throws Error that names the
/// path.
class CaptureWriter {
 public:
  explicit CaptureWriter(const std::string& path);
  void write(const CaptureRecord& record);
  /// All is in the file when this returns.
  void finish();

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace millrace
