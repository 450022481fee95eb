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
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPauseNsMin = 500'000'000, kPauseNsMax = 30'000'000'000;

class PcapTxQueue final : public TxQueue {
 public:
  PcapTxQueue(const std::string& path, bool restarted);

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    return send_each(packets.size(), [&](std::size_t i) {
      const TxPacket& packet = packets[i];
      return Record{packet.bytes, packet.wire_length, packet.time_ns};
    });
  }
  bool reads_batches() const noexcept override { return true; }
  std::uint32_t send_of(const Batch& batch,
                        std::span<const std::uint16_t> packets) noexcept override {
    return send_each(packets.size(), [&](std::size_t i) {
      return Record{batch.bytes(packets[i]), batch.wire_length(packets[i]), 0};
    });
  }
  bool waits_when_full() const noexcept override { return true; }
  bool failed() const noexcept override { return error_ != 0; }
  TroubleText trouble() const noexcept override {
    TroubleText text;
    if (error_ == 0) return text;
    text.add("%s: ", strerrordesc_np(error_));
    text.add_path(path_);
    text.add(" ends behind a whole record; dropped as no_output until it can be written again");
    return text;
  }

 private:
  using RecordHeader = std::array<std::byte, kPcapRecordHeaderBytes>;
  struct Record {
    std::span<const std::byte> bytes;
    std::uint32_t wire_length = 0;
    std::uint64_t time_ns = 0;  ///< 0: when it is written
  };

  void begin(const std::string& path);
  void go_on(const std::string& path);
  /// Writes records 0..count - 1, as `record_of` gives them; returns how many are whole.
  template <typename RecordOf>
  std::uint32_t send_each(std::size_t count, const RecordOf& record_of) noexcept {
    std::uint32_t sent = 0;
    if (error_ != 0 && !tries_again()) return 0;
    while (sent < count && error_ == 0) {
      const std::uint64_t now_ns = system_clock_ns();
      const std::size_t some = std::min<std::size_t>(count - sent, kBurstMax);
      for (std::size_t i = 0; i < some; ++i) add(i, record_of(sent + i), now_ns);
      sent += write_records(some);
    }
    return sent;
  }
  bool tries_again() noexcept;
  void add(std::size_t place, const Record& record, std::uint64_t now_ns) noexcept;
  std::uint32_t write_records(std::size_t count) noexcept;
  std::uint64_t write_all(std::span<iovec> pieces) noexcept;

  const std::string path_;
  UniqueFd file_;
  std::uint64_t end_ = 0;  ///< of the last whole record
  int error_ = 0;          ///< errno of the write that failed last; 0: it was no failure
  std::uint64_t pause_ns_ = 0, try_at_ns_ = 0;  ///< until the next write after one that failed
  std::array<RecordHeader, kBurstMax> headers_{};
  std::array<std::uint64_t, kBurstMax> record_bytes_{};
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

/// A disk that was full may have room by now.
bool PcapTxQueue::tries_again() noexcept {
  if (monotonic_ns() < try_at_ns_) return false;
  error_ = 0;
  return true;
}

void PcapTxQueue::add(std::size_t place, const Record& record, std::uint64_t now_ns) noexcept {
  put_pcap_record_header(headers_[place].data(), record.time_ns != 0 ? record.time_ns : now_ns,
                         static_cast<std::uint32_t>(record.bytes.size()), record.wire_length);
  pieces_[2 * place] = {headers_[place].data(), headers_[place].size()};
  // writev(2) does not write through it.
  pieces_[2 * place + 1] = {const_cast<std::byte*>(record.bytes.data()), record.bytes.size()};
  record_bytes_[place] = kPcapRecordHeaderBytes + record.bytes.size();
}

/// Writes the records at places 0..count - 1.
std::uint32_t PcapTxQueue::write_records(std::size_t count) noexcept {
  std::uint64_t written = write_all(std::span(pieces_).first(2 * count));
  std::uint32_t whole = 0;
  while (whole < count && written >= record_bytes_[whole]) {
    written -= record_bytes_[whole];
    end_ += record_bytes_[whole];
    ++whole;
  }
  if (error_ == 0) {
    // Only then: a disk that has room now and then would be told of all the time.
    if (pause_ns_ != 0 && monotonic_ns() > try_at_ns_ + kPauseNsMax) pause_ns_ = 0;
    return whole;
  }
  pause_ns_ = std::clamp(2 * pause_ns_, kPauseNsMin, kPauseNsMax);
  try_at_ns_ = monotonic_ns() + pause_ns_;
  // Cuts off what is there of a record that did not fit; if that fails too, a restart does it.
  if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) return whole;
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
