// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/capture_writer.hpp"

#include <array>

#include "io-worker/ports/pcap_format.hpp"

namespace millrace {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

}  // namespace

CaptureWriter::CaptureWriter(const std::string& path) : file_(path) {
  std::array<std::byte, kPcapFileHeaderBytes> header{};
  put_pcap_header(header.data());
  append(header);
  file_.end_record();
}

void CaptureWriter::append(std::span<const std::byte> bytes) {
  file_.buffer().insert(file_.buffer().end(), bytes.begin(), bytes.end());
}

void CaptureWriter::write(const CaptureRecord& record) {
  std::array<std::byte, kPcapRecordHeaderBytes> header{};
  put_pcap_record_header(header.data(), record.time_ns,
                         static_cast<std::uint32_t>(record.bytes.size()), record.wire_length);
  append(header);
  append(record.bytes);
  file_.end_record();
  if (file_.waiting() >= kFlushBytes) file_.flush();
}

}  // namespace millrace
