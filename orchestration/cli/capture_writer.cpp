// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/capture_writer.hpp"

#include <array>
#include <cerrno>

#include "io-worker/ports/pcap_format.hpp"
#include "shared/base/error.hpp"

namespace millrace {

CaptureWriter::CaptureWriter(const std::string& path)
    : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  if (!file_) throw system_error("write capture " + path_, errno);
  std::array<std::byte, kPcapFileHeaderBytes> header{};
  put_pcap_header(header.data());
  file_.write(reinterpret_cast<const char*>(header.data()), header.size());
}

void CaptureWriter::write(const CaptureRecord& record) {
  std::array<std::byte, kPcapRecordHeaderBytes> header{};
  put_pcap_record_header(header.data(), record.time_ns,
                         static_cast<std::uint32_t>(record.bytes.size()), record.wire_length);
  file_.write(reinterpret_cast<const char*>(header.data()), header.size());
  file_.write(reinterpret_cast<const char*>(record.bytes.data()),
              static_cast<std::streamsize>(record.bytes.size()));
}

void CaptureWriter::finish() {
  if (!file_.flush()) throw system_error("write capture " + path_, errno);
}

}  // namespace millrace
