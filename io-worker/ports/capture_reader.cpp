// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/capture_reader.hpp"

#include <fcntl.h>

#include <cstring>
#include <string_view>
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

/// By the first four bytes; empty: they are of none that is known.
std::string_view unpacker_of(const std::byte* magic) {
  struct Format {
    std::string_view begin, program;
  };
  constexpr Format kFormats[] = {{"\x1f\x8b", "gunzip"},        {"\x28\xb5\x2f\xfd", "unzstd"},
                                 {"\xfd\x37\x7a\x58", "unxz"},  {"\x42\x5a\x68", "bunzip2"},
                                 {"\x04\x22\x4d\x18", "unlz4"}, {"PK\x03\x04", "unzip"}};
  const std::string_view bytes(reinterpret_cast<const char*>(magic), 4);
  for (const Format& format : kFormats) {
    if (bytes.starts_with(format.begin)) return format.program;
  }
  return {};
}

void refuse_unreadable(const FileWindow& window) {
  if (window.error() != 0) throw system_error("read", window.error());
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
  refuse_unreadable(window_);
  if (magic == nullptr) throw Error("shorter than the header of a capture");
  if (is_pcap(magic)) {
    const std::byte* header = window_.need(kPcapFileHeaderBytes);
    if (header == nullptr) throw Error("shorter than the header of a capture");
    format_ = parse_pcap_header(header);
    window_.consume(kPcapFileHeaderBytes);
    return refuse_link_type(std::get<PcapFormat>(format_).link_type);
  }
  if (load_number<std::uint32_t>(magic, false) != kPcapngSectionHeader) {
    const std::string_view program = unpacker_of(magic);
    if (program.empty()) throw Error("neither a pcap nor a pcapng capture");
    throw Error("it is compressed; unpack it first, with " + std::string(program));
  }
  open_pcapng();
}

void CaptureReader::open_pcapng() {
  PcapngReader& reader = format_.emplace<PcapngReader>();
  const CaptureStatus status = reader.open(window_);
  refuse_unreadable(window_);
  if (status == CaptureStatus::kTruncated) {
    throw Error("a pcapng capture that ends before it has described an interface");
  }
  if (status != CaptureStatus::kRecord) {
    throw Error("a pcapng capture that describes no interface");
  }
  if (reader.has_ethernet()) return;
  // An Ethernet packet may still come: of an interface or a section that is described later.
  const std::uint64_t begin = window_.offset();
  PcapngReader ahead = reader;
  CaptureRecord record;
  if (!window_.seek(begin) || ahead.next(window_, record) == CaptureStatus::kRecord ||
      (ahead.skipped() == 0 && ahead.has_ethernet())) {
    window_.seek(begin);
    return;
  }
  refuse_link_type(ahead.other_link_type());
}

CaptureStatus CaptureReader::next(CaptureRecord& record) noexcept {
  if (status_ != CaptureStatus::kRecord) return status_;
  if (PcapngReader* reader = std::get_if<PcapngReader>(&format_)) {
    status_ = reader->next(window_, record);
  } else {
    status_ = next_pcap_record(window_, *std::get_if<PcapFormat>(&format_), record);
  }
  if (status_ == CaptureStatus::kRecord) ++packets_;
  return status_;
}

std::uint64_t CaptureReader::skipped() const noexcept {
  const auto* reader = std::get_if<PcapngReader>(&format_);
  return reader == nullptr ? 0 : reader->skipped();
}

std::uint64_t CaptureReader::errors() const noexcept {
  const bool whole = status_ == CaptureStatus::kRecord || status_ == CaptureStatus::kEnd;
  return skipped() + (whole ? 0 : 1);
}

TroubleText CaptureReader::trouble_of(const std::string& path) const noexcept {
  TroubleText text;
  const TroubleText what = trouble();
  if (what.empty()) return text;
  text.add_path(path);
  text.add(" %s", what.c_str());
  return text;
}

TroubleText CaptureReader::trouble() const noexcept {
  TroubleText text;
  const auto packets = static_cast<unsigned long>(packets_ + skipped());
  switch (status_) {
    case CaptureStatus::kRecord:
    case CaptureStatus::kEnd:
      break;
    case CaptureStatus::kTruncated:
      text.add("ends in a record that is incomplete, behind %lu packets", packets);
      break;
    case CaptureStatus::kCorrupt:
      text.add("is corrupt behind %lu packets; what follows is not read", packets);
      break;
    case CaptureStatus::kUnreadable:
      text.add("cannot be read behind %lu packets: %s", packets, strerrordesc_np(window_.error()));
      break;
  }
  if (skipped() != 0) {
    text.add(
        "%shas packets that are not Ethernet (link type 1): %lu were skipped, the first of "
        "link type %u",
        text.empty() ? "" : "; ", static_cast<unsigned long>(skipped()),
        std::get_if<PcapngReader>(&format_)->other_link_type());
  }
  return text;
}

}  // namespace millrace
