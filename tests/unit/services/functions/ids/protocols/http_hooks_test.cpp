// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_hooks.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/work_budget.hpp"
#include "tests/unit/services/functions/ids/protocols/deflated.hpp"
#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

TEST(HttpHooks, WhatIsNotUnderstoodLeavesWhatCame) {
  HttpRun http;
  http.request("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n");
  EXPECT_TRUE(http.parser.is_broken(0));
  EXPECT_EQ(http.of_request(kHttpHost), "a");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "a");
  http.request("GET / HTTP/1.1\r\n\r\n");
  http.response(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 201 OK\r\n"
      "Content-Length: 1\r\n\r\ny");
  EXPECT_FALSE(http.parser.is_broken(1));
  EXPECT_EQ(http.of_response(kHttpResponseBody, 0), "x");
  EXPECT_EQ(http.of_response(kHttpResponseBody, 1), "y");
  EXPECT_EQ(http.parser.settled(0), 0u);
  EXPECT_EQ(http.parser.settled(1), 0u);
}

TEST(HttpHooks, ABrokenResponseShowsItsHeaders) {
  HttpRun http;
  http.request("GET / HTTP/1.1\r\n\r\n");
  http.response("HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: x\r\n\r\nabc");
  EXPECT_TRUE(http.parser.is_broken(1));
  EXPECT_EQ(http.of_response(kHttpServer), "s");
  http.request("GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/2");
}

TEST(HttpHooks, BehindATunnelIsNoHttp) {
  HttpRun http;
  http.request("CONNECT a:443 HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpMethod), "CONNECT");
  http.response("HTTP/1.1 200 OK\r\n\r\nbytes").request("more").response("more");
  EXPECT_TRUE(http.parser.is_done());
  EXPECT_TRUE(http.is_complete(0) && http.is_complete(1));
  EXPECT_EQ(http.record.transactions.size(), 1u);
}

TEST(HttpHooks, ATunnelThatIsRefusedIsNone) {
  HttpRun http;
  http.request("CONNECT a:443 HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n");
  http.response("HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_FALSE(http.parser.is_done());
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/next");
  EXPECT_EQ(http.parser.transactions(), 1u);
}

TEST(HttpHooks, AnUpgradeEndsHttp) {
  HttpRun http;
  http.request("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
  http.response("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x05hello");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "101");
  EXPECT_TRUE(http.parser.is_done());
}

std::string deflated_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(HttpHooks, WhatInflatesToMuchTakesUnits) {
  constexpr std::size_t kRuns = 8000, kBytes = 1 + kRuns * DeflatedText::kRunBytes;
  const std::string body = DeflatedText::letters(kRuns), answer = deflated_answer(body);
  // In one call all bytes of the body are there when it begins to inflate.
  const std::size_t costly = kBytes - body.size() * 32;
  const auto units = static_cast<std::uint32_t>(costly / WorkShare::kInflatedBytesOfUnit);
  WorkShare share;
  AppLimits limits{.body_bytes = 4u << 20, .work = &share};
  for (const bool is_enough : {true, false}) {
    share.begin(is_enough ? units : units - 4);
    HttpRun http(limits);
    http.request("GET / HTTP/1.1\r\n\r\n").response(answer);
    EXPECT_EQ(share.has_lost_body(), !is_enough);
    EXPECT_EQ(share.left(), 0u);
    const std::size_t read = http.of_response(kHttpResponseBody).size();
    if (is_enough) {
      EXPECT_EQ(read, kBytes);
    } else {
      EXPECT_LT(read, kBytes - 3 * WorkShare::kInflatedBytesOfUnit);
    }
  }
}

TEST(HttpHooks, APageTakesNone) {
  const std::string body = DeflatedText::letters(300);  // what is less than a unit is free
  WorkShare share;
  share.begin(0);
  HttpRun http({.body_bytes = 1u << 20, .work = &share});
  http.request("GET / HTTP/1.1\r\n\r\n").response(deflated_answer(body));
  EXPECT_FALSE(share.is_own_fault());
  EXPECT_FALSE(share.has_lost_body());
}

TEST(HttpHooks, ManySmallBodiesTakeWhatOneDoes) {
  constexpr std::size_t kRuns = 240, kBytes = 1 + kRuns * DeflatedText::kRunBytes, kAnswers = 20;
  const std::string body = DeflatedText::letters(kRuns), answer = deflated_answer(body);
  ASSERT_LT(kBytes, WorkShare::kInflatedBytesOfUnit);
  const std::size_t costly = kAnswers * (kBytes - body.size() * 32);
  const std::size_t units = costly / WorkShare::kInflatedBytesOfUnit;
  std::string requests, answers;
  for (std::size_t i = 0; i < kAnswers; ++i) {
    requests += "GET / HTTP/1.1\r\n\r\n";
    answers += answer;
  }
  WorkShare share;
  share.begin(WorkShare::kUnitsMax);
  HttpRun http({.work = &share});
  http.request(requests).response(answers);
  EXPECT_GT(units, 10u);
  EXPECT_EQ(WorkShare::kUnitsMax - share.left(), units);
  EXPECT_FALSE(share.has_lost_body());
}

}  // namespace
}  // namespace millrace
