// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/capture_reader.hpp"

#include <fcntl.h>

#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kWindowBytes = kCaptureLengthMax + 2 * 65536;

void refuse_link_type(std::uint32_t link_type) {
  if (link_type == kLinkTypeEthernet) return;
  throw Error("link type " + std::to_string(link_type) +
              " (www.tcpdump.org/linktypes.html); only Ethernet, link type 1, can be read");
}

}  // namespace

CaptureReader::CaptureReader(const std::string& path)
    : CaptureReader(open_file(path, O_RDONLY), path) {}

CaptureReader::CaptureReader(UniqueFd file, const std::string& path)
    : window_(std::move(file), kWindowBytes) {
  while_doing(path, [&] { open(); });
}

void CaptureReader::open() {
  const std::byte* magic = window_.need(4);
  if (magic == nullptr) throw Error("shorter than the header of a capture");
  if (is_pcap(magic)) {
    const std::byte* header = window_.need(kPcapFileHeaderBytes);
    if (header == nullptr) throw Error("shorter than the header of a capture");
    format_ = parse_pcap_header(header);
    window_.consume(kPcapFileHeaderBytes);
    return refuse_link_type(std::get<PcapFormat>(format_).link_type);
  }
  if (load_number<std::uint32_t>(magic, false) != kPcapngSectionHeader) {
    throw Error("neither a pcap nor a pcapng capture");
  }
  PcapngReader& reader = format_.emplace<PcapngReader>();
  if (!reader.open(window_)) throw Error("a pcapng capture that describes no interface");
  refuse_link_type(reader.link_type());
}

CaptureStatus CaptureReader::next(CaptureRecord& record) noexcept {
  if (status_ != CaptureStatus::kRecord) return status_;
  if (PcapngReader* reader = std::get_if<PcapngReader>(&format_)) {
    status_ = reader->next(window_, record);
  } else {
    status_ = next_pcap_record(window_, *std::get_if<PcapFormat>(&format_), record);
  }
  return status_;
}

}  // namespace millrace
