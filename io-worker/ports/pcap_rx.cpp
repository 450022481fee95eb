// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "io-worker/ports/capture_reader.hpp"
#include "io-worker/ports/pcap.hpp"
#include "io-worker/ports/received.hpp"

namespace millrace {
namespace {

class PcapRxQueue final : public RxQueue {
 public:
  explicit PcapRxQueue(const std::string& path) : path_(path), reader_(path) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    const BufferArea area = pool.area();
    const std::uint32_t room = buffer_room(area);
    std::uint32_t count = 0;
    while (count < out.size() && (waiting_ || read_next())) {
      std::uint32_t buffer = 0;
      // The record waits in the reader for a buffer.
      if (pool.take({&buffer, 1}) == 0) break;
      RxPacket& packet = out[count++];
      describe_received(packet, buffer, record_.bytes.size(), record_.wire_length, room);
      packet.ordinal = ordinal_++;
      if (packet.length > 0) {
        std::memcpy(area.at(buffer) + packet.offset, record_.bytes.data(), packet.length);
      }
      waiting_ = false;
    }
    return count;
  }

  void resume(std::uint64_t first_wanted) noexcept override {
    while (ordinal_ < first_wanted && read_next()) {
      waiting_ = false;
      ++ordinal_;
    }
  }

  bool exhausted() const noexcept override { return status_ != CaptureStatus::kRecord; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t errors() const noexcept override { return reader_.errors(); }
  TroubleText trouble() const noexcept override { return reader_.trouble_of(path_); }

 private:
  bool read_next() noexcept {
    status_ = reader_.next(record_);
    waiting_ = status_ == CaptureStatus::kRecord;
    return waiting_;
  }

  const std::string path_;
  CaptureReader reader_;
  CaptureRecord record_;
  CaptureStatus status_ = CaptureStatus::kRecord;
  bool waiting_ = false;  ///< record_ is read and not yet handed out
  std::uint64_t ordinal_ = 0;
};

}  // namespace

std::unique_ptr<RxQueue> open_pcap_rx(const PlanPort& port, std::uint32_t, const BufferSource&,
                                      bool) {
  return std::make_unique<PcapRxQueue>(pcap_settings(port).in);
}

}  // namespace millrace
