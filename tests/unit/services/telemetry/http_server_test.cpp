// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/services/telemetry/scraping.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using test::connect_to;
using test::error_of;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Longer than any test: what ends a connection is then something else.
constexpr HttpLimits kPatient{.request_time = milliseconds(600'000),
                              .answer_time = milliseconds(600'000)};

class HttpServerTest : public testing::Test {
 protected:
  void open(const HttpLimits& limits, const std::string& host = "127.0.0.1") {
    server_.emplace(host + ":0", limits);
    server_->serve("/metrics", "text/plain", [this] { return page_; });
    address_ = host + ":" + std::to_string(server_->port());
  }
  /// The whole answer; empty: the connection was ended without one.
  std::string ask(const std::string& request) const {
    const UniqueFd connection = connect_to(address_);
    test::send_all(connection, request);
    return test::read_all(connection);
  }
  std::string get() const { return ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); }

  std::string page_ = "a 1\n";
  std::string address_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersByIpv4AndIpv6) {
  const std::string page =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"
      "Connection: close\r\n\r\na 1\n";
  open(kPatient);
  EXPECT_EQ(get(), page);
  if (!test::has_ipv6()) GTEST_SKIP() << "this host has no ::1";
  open(kPatient, "[::1]");
  EXPECT_EQ(get(), page);
  open(kPatient, "[::]");
  EXPECT_EQ(get(), page);
  address_ = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(get(), page) << "all addresses are those of IPv4 too";
}

TEST_F(HttpServerTest, KnowsOnePageAndTwoMethods) {
  open(kPatient);
  EXPECT_THAT(ask("GET /metrics?x=1 HTTP/1.0\n\n"), EndsWith("a 1\n"));
  EXPECT_THAT(ask("GET http://proxy:1/metrics HTTP/1.1\r\n\r\n"), EndsWith("a 1\n"));
  EXPECT_THAT(ask("HEAD /metrics HTTP/1.1\r\n\r\n"), EndsWith("Connection: close\r\n\r\n"));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET http://proxy HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET /metrics/x HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  const std::string post = ask("POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\nxy");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD\r\n"));
  for (const char* bad : {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET  \r\n\r\n",
                          "GET /metrics FTP/1.1\r\n\r\n", "\x16\x03\x01 x y\r\n\r\n"}) {
    EXPECT_THAT(ask(bad), StartsWith("HTTP/1.1 400 ")) << bad;
  }
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nX: " + std::string(9000, 'x')),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, ARequestMayComeInPieces) {
  open(kPatient);
  const UniqueFd connection = connect_to(address_);
  for (const char letter : std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")) {
    test::send_all(connection, std::string(1, letter));
  }
  EXPECT_THAT(test::read_all(connection), EndsWith("a 1\n"));
}

TEST_F(HttpServerTest, ConnectionsThatAskNothingCostAScrapeNothing) {
  open(kPatient);  // so only their number can end them
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(connect_to(address_));
    ASSERT_TRUE(idle.back());
    if (i % 2 == 1) test::send_all(idle.back(), "GET /metrics HT");
    if (i % 20 == 0) {
      EXPECT_THAT(get(), EndsWith("a 1\n"));
    }
  }
  EXPECT_THAT(get(), EndsWith("a 1\n"));
  EXPECT_EQ(test::read_all(idle.front()), "") << "the oldest have made room";
}

TEST_F(HttpServerTest, WhatDoesNotReadItsAnswerCostsAScrapeNothing) {
  page_.assign(std::size_t{8} << 20, 'x');  // more than the kernel takes for a client
  HttpLimits few = kPatient;
  few.connections_max = 8;
  open(few);
  std::vector<UniqueFd> lazy;
  for (int i = 0; i < 20; ++i) {
    lazy.push_back(connect_to(address_));
    test::send_all(lazy.back(), "GET /metrics HTTP/1.1\r\n\r\n");
  }
  EXPECT_THAT(get(), EndsWith(page_));
}

TEST_F(HttpServerTest, EndsWhatTakesTooLong) {
  open({.request_time = milliseconds(50), .answer_time = milliseconds(50)});
  const UniqueFd idle = connect_to(address_);
  EXPECT_EQ(test::read_all(idle), "");
  const UniqueFd half = connect_to(address_);
  test::send_all(half, "GET /metrics HTTP/1.1\r\n");
  EXPECT_EQ(test::read_all(half), "");
  page_.assign(std::size_t{8} << 20, 'x');
  const UniqueFd slow = connect_to(address_);
  test::send_all(slow, "GET /metrics HTTP/1.1\r\n\r\n");
  test::await_end(slow);
  EXPECT_LT(test::read_all(slow).size(), page_.size());
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  open(kPatient);
  EXPECT_THAT(error_of([&] { HttpServer second(address_); }), StartsWith("bind: Address already"));
  EXPECT_THAT(error_of([] { HttpServer named("localhost:1"); }), HasSubstr("no numeric address"));
  EXPECT_THAT(error_of([] { HttpServer elsewhere("192.0.2.1:9090"); }),
              StartsWith("bind: Cannot assign"));
}

}  // namespace
}  // namespace millrace
