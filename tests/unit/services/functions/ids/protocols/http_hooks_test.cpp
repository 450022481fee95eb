// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_hooks.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace millrace
