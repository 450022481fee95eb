// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "io-worker/ports/capture_reader.hpp"
#include "io-worker/ports/pcap.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

class PcapTxQueue final : public TxQueue {
 public:
  PcapTxQueue(const std::string& path, bool restarted);

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    std::uint32_t sent = 0;
    while (sent < packets.size() && error_ == 0) {
      sent += send_burst(
          packets.subspan(sent, std::min<std::size_t>(packets.size() - sent, kBurstMax)));
    }
    return sent;
  }
  bool waits_when_full() const noexcept override { return true; }
  bool failed() const noexcept override { return error_ != 0; }
  TroubleText trouble() const noexcept override {
    TroubleText text;
    if (error_ == 0) return text;
    text.add("%s: ", strerrordesc_np(error_));
    text.add_path(path_);
    text.add(" ends behind a whole record; what follows is dropped as no_output");
    return text;
  }

 private:
  using RecordHeader = std::array<std::byte, kPcapRecordHeaderBytes>;

  void begin(const std::string& path);
  void go_on(const std::string& path);
  std::uint32_t send_burst(std::span<const TxPacket> packets) noexcept;
  std::uint64_t write_all(std::span<iovec> pieces) noexcept;

  const std::string path_;
  UniqueFd file_;
  std::uint64_t end_ = 0;  ///< of the last whole record
  int error_ = 0;          ///< errno of the write that failed for good; 0: none has
  std::array<RecordHeader, kBurstMax> headers_{};
  std::array<iovec, std::size_t{2} * kBurstMax> pieces_{};
};

PcapTxQueue::PcapTxQueue(const std::string& path, bool restarted)
    : path_(path), file_(open_file(path, O_RDWR | O_CREAT)) {
  if (regular_file_bytes(file_, path) >= kPcapFileHeaderBytes && restarted) {
    go_on(path);
  } else {
    begin(path);
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) {
    throw system_error("truncate " + path, errno);
  }
}

void PcapTxQueue::begin(const std::string& path) {
  std::array<std::byte, kPcapFileHeaderBytes> header{};
  put_pcap_header(header.data());
  if (::ftruncate(file_.get(), 0) != 0) throw system_error("truncate " + path, errno);
  if (::pwrite(file_.get(), header.data(), header.size(), 0) != std::ssize(header)) {
    throw system_error("write " + path, errno);
  }
  end_ = header.size();
}

void PcapTxQueue::go_on(const std::string& path) {
  CaptureReader reader(path);
  const PcapFormat* format = reader.pcap_format();
  if (format == nullptr || format->swapped || !format->nanoseconds) {
    throw Error(path + ": not the file that this port wrote before: move it away");
  }
  CaptureRecord record;
  CaptureStatus status = CaptureStatus::kRecord;
  while (status == CaptureStatus::kRecord) status = reader.next(record);
  end_ = reader.offset();
  if (status == CaptureStatus::kUnreadable) throw Error(path + " " + reader.trouble().text());
  if (status == CaptureStatus::kCorrupt) {
    throw Error(path + ": no record at byte " + std::to_string(end_) + ": move the file away");
  }
}

std::uint32_t PcapTxQueue::send_burst(std::span<const TxPacket> packets) noexcept {
  std::size_t piece = 0;
  const std::uint64_t now_ns = system_clock_ns();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const TxPacket& packet = packets[i];
    put_pcap_record_header(headers_[i].data(), packet.time_ns != 0 ? packet.time_ns : now_ns,
                           static_cast<std::uint32_t>(packet.bytes.size()), packet.wire_length);
    pieces_[piece++] = {headers_[i].data(), headers_[i].size()};
    // writev(2) does not write through it.
    pieces_[piece++] = {const_cast<std::byte*>(packet.bytes.data()), packet.bytes.size()};
  }
  std::uint64_t written = write_all(std::span(pieces_).first(piece));
  std::uint32_t whole = 0;
  while (whole < packets.size()) {
    const std::uint64_t record = kPcapRecordHeaderBytes + packets[whole].bytes.size();
    if (written < record) break;
    written -= record;
    end_ += record;
    ++whole;
  }
  // Cuts off what is there of a record that did not fit; if that fails too, a restart does it.
  if (error_ != 0 && ::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) return whole;
  return whole;
}

std::uint64_t PcapTxQueue::write_all(std::span<iovec> pieces) noexcept {
  std::uint64_t written = 0;
  while (!pieces.empty()) {
    const ssize_t got = ::pwritev(file_.get(), pieces.data(), static_cast<int>(pieces.size()),
                                  static_cast<off_t>(end_ + written));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      error_ = got < 0 ? errno : ENOSPC;
      return written;
    }
    written += static_cast<std::uint64_t>(got);
    auto done = static_cast<std::size_t>(got);
    while (!pieces.empty() && done >= pieces.front().iov_len) {
      done -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) break;
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + done;
    pieces.front().iov_len -= done;
  }
  return written;
}

}  // namespace

std::unique_ptr<TxQueue> open_pcap_tx(const PlanPort& port, std::uint32_t, bool restarted) {
  return std::make_unique<PcapTxQueue>(pcap_settings(port).out, restarted);
}

}  // namespace millrace
