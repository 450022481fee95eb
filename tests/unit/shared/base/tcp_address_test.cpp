// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tcp_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <string>

namespace millrace {
namespace {

TEST(TcpAddress, IsASchemeAHostAndAPort) {
  EXPECT_EQ(host_and_port("tcp://10.0.0.1:7070"), "10.0.0.1:7070");
  EXPECT_EQ(host_and_port("tcp://*:0"), "*:0");
  EXPECT_EQ(host_and_port("tcp://[::1]:65535"), "[::1]:65535");
}

TEST(TcpAddress, IsNothingElse) {
  for (const char* const text :
       {"", "tcp://", "tcp://:7070", "tcp://host", "tcp://host:", "tcp://host:65536",
        "tcp://host:-1", "tcp://::1:7070", "tcp://[::1]", "tcp://[::1:7070", "tcp://[::g]:1",
        "tcp://host:7070 ", "tcp://host:7a", "ipc://host:7070", "host:7070"}) {
    EXPECT_EQ(host_and_port(text), std::nullopt) << text;
  }
}

TEST(SocketAddress, IsANumericHostAndAPort) {
  const auto text_of = [](const char* from) -> std::string {
    const auto address = socket_address(from);
    if (!address) return "";
    char host[INET6_ADDRSTRLEN] = "", port[8] = "";
    EXPECT_EQ(::getnameinfo(address->get(), address->bytes, host, sizeof host, port, sizeof port,
                            NI_NUMERICHOST | NI_NUMERICSERV),
              0);
    return std::string(host) + " " + port;
  };
  EXPECT_EQ(text_of("127.0.0.1:9090"), "127.0.0.1 9090");
  EXPECT_EQ(text_of("0.0.0.0:0"), "0.0.0.0 0");
  EXPECT_EQ(text_of("[::1]:65535"), "::1 65535");
  EXPECT_EQ(text_of("[::]:1"), ":: 1");
  EXPECT_EQ(text_of("[::ffff:10.0.0.1]:80"), "::ffff:10.0.0.1 80");
  EXPECT_EQ(text_of("[fe80::1%lo]:80"), "fe80::1%lo 80");
  for (const char* text : {"",
                           ":",
                           "localhost:1",
                           "*:1",
                           "lo:1",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:65536",
                           "127.0.0.1:-1",
                           "127.0.0.1:+1",
                           "127.0.0.1: 1",
                           "127.0.0.1:1 ",
                           "127.0.0.256:1",
                           "127.1:1",
                           "::1:9090",
                           "[::1]",
                           "[::1]:",
                           "[::1]:70000",
                           "[::1]9090",
                           "[]:1",
                           "[:1",
                           "[::1%]:1",
                           "[fe80::1%a-name-that-is-too-long]:1",
                           "[127.0.0.1]:1",
                           "http://127.0.0.1:1"}) {
    EXPECT_FALSE(socket_address(text)) << text;
  }
}

}  // namespace
}  // namespace millrace
