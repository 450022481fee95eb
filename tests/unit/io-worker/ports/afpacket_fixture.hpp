// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/kept_file.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/file_lender.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace::test {

/// Receive queues of the end `here`, frames sent into the end `there`.
class AfpacketFixture : public VethTest {
 protected:
  void open(Settings more = {}) {
    more.emplace_back("interface", "here");
    port_ = make_port("afpacket", std::move(more));
    const AfpacketSettings settings = afpacket_settings(port_);
    reads_.assign(settings.queues, 0);
    for (std::uint32_t i = 0; i < settings.shares(); ++i) {
      reads_[i * settings.queues / settings.shares()] |= ShareSet{1} << i;
    }
    for (std::uint32_t i = 0; i < settings.queues; ++i) {
      queues_.push_back(open_rx_queue(port_, i, pool_, false, folder_, reads_[i]));
    }
    if (admit_) admit();
    sender_ = open_packet_socket();
    bind_packet_socket(sender_, "there", 0);
  }
  void admit() {
    for (const auto& queue : queues_) {
      if (queue && queue->shares() != nullptr) queue->shares()->admit();
    }
  }
  void send(const std::string& frame) const {
    ASSERT_EQ(::send(sender_.get(), frame.data(), frame.size(), 0), std::ssize(frame));
  }
  static std::string frame(std::size_t bytes, char fill) {
    std::string text(bytes, fill);
    text.replace(12, 2, "\x88\xb5", 2);
    return text;
  }
  /// A UDP packet of a flow, its checksum right or as an offloading stack leaves it.
  static std::string udp(std::uint8_t from, std::uint8_t to, std::uint16_t from_port,
                         std::uint16_t to_port) {
    std::string text = frame(60, '\0');
    text.replace(12, 2, std::string("\x08\x00", 2));
    text[14] = 0x45;
    text[17] = 46;
    text[22] = 64;
    text[23] = 17;
    text.replace(26, 8,
                 std::string{10, 0, 0, static_cast<char>(from), 10, 0, 0, static_cast<char>(to)});
    const auto put = [&](std::size_t at, std::uint16_t value) {
      text[at] = static_cast<char>(value >> 8);
      text[at + 1] = static_cast<char>(value);
    };
    put(34, from_port);
    put(36, to_port);
    put(38, 26);
    return text;
  }
  /// What was taken is sealed, unless `hold_`.
  std::vector<Taken> take(std::size_t queue = 0) {
    std::vector<Taken> all = take_all(*queues_[queue], pool_);
    if (!hold_ && !all.empty()) seal(queue, all.back().packet.ordinal + 1);
    return all;
  }
  /// As many as are on their way: the kernel hands them over in its own time.
  std::vector<Taken> take_some(std::size_t count, std::size_t queue = 0) {
    std::vector<Taken> all;
    const std::uint64_t end = monotonic_ns() + kLong;
    while (all.size() < count && monotonic_ns() < end) {
      for (Taken& taken : take(queue)) all.push_back(std::move(taken));
    }
    return all;
  }

  /// From now on a keeper keeps the sockets of `queues` queues.
  void keep(std::uint32_t queues) {
    folder_ = std::filesystem::temp_directory_path() / ("kept-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    std::set<std::string> places;
    for (std::uint32_t i = 0; i < queues; ++i) places.insert("lan." + std::to_string(i));
    keeper_.emplace(folder_ + kHubFiles, std::map<std::string, UniqueFd>{}, places);
  }
  void seal(std::size_t queue, std::uint64_t below) {
    sealed_[queue] = below;
    queues_[queue]->release_below(below);
  }
  /// The reader of a queue dies; the next one goes on behind what was sealed.
  void replace_reader(std::size_t queue) {
    queues_[queue].reset();
    queues_[queue] = open_rx_queue(port_, static_cast<std::uint32_t>(queue), pool_, true, folder_,
                                   reads_[queue]);
    queues_[queue]->resume(sealed_[queue]);
    admit();
  }
  void TearDown() override {
    queues_.clear();
    keeper_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
    VethTest::TearDown();
  }

  std::string folder_;
  std::optional<FileLender> keeper_;
  std::map<std::size_t, std::uint64_t> sealed_;  ///< by queue
  std::vector<ShareSet> reads_;                  ///< by queue, as the next life is told
  bool hold_ = false;
  bool admit_ = true;  ///< at once
  static constexpr std::uint64_t kLong = 30'000'000'000;
  TestPool pool_{600};
  PlanPort port_;
  UniqueFd sender_;
  std::vector<std::unique_ptr<RxQueue>> queues_;
};

}  // namespace millrace::test
