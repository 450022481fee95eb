// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/tap.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace::test {

/// Each test in a network namespace of its own with the interface `mill` of a port, and a socket of
/// the host on it. The cable of VethTest leads elsewhere.
class TapTest : public VethTest {
 protected:
  void open(Settings more = {}, std::uint32_t mtu = 1500) {
    more.emplace_back("interface", "mill");
    port_ = make_port("tap", std::move(more));
    port_.mtu = mtu;
    files_ = make_tap(port_, "/run/test");
    host_ = open_packet_socket();
    bind_packet_socket(host_, "mill", 0x88b5);
  }
  static UniqueFd copy(const UniqueFd& file) { return UniqueFd(::dup(file.get())); }
  static std::string frame(std::size_t bytes, char fill) {
    return std::string(6, fill & ~1) + std::string("\2\0\0\0\0\1\x88\xb5", 8) +
           std::string(bytes - 14, fill);
  }
  /// By the host's socket.
  void send(const std::string& frame) const {
    ASSERT_EQ(::send(host_.get(), frame.data(), frame.size(), 0), std::ssize(frame));
  }
  std::vector<std::string> received() const {
    std::vector<std::string> all;
    char data[10000];
    ssize_t got = 0;
    while ((got = ::recv(host_.get(), data, sizeof data, MSG_DONTWAIT)) > 0) {
      all.emplace_back(data, got);
    }
    return all;
  }

  PlanPort port_;
  std::vector<UniqueFd> files_;
  UniqueFd host_;
};

}  // namespace millrace::test
