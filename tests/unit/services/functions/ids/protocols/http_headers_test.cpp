// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_exchange.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

TEST(HttpHeaders, BuffersOfARequest) {
  HttpRun http;
  http.request(
      "GET /a%20b?c=%41 HTTP/1.1\r\nHost: Www.Example.COM:8080\r\nUser-Agent: Agent/1\r\n"
      "Referer: http://r/\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nAccept-Language: de\r\n"
      "Cookie: k=v\r\nConnection: close\r\nX-Own:  two  \r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpMethod), "GET");
  EXPECT_EQ(http.of_request(kHttpUri), "/a b?c=A");
  EXPECT_EQ(http.of_request(kHttpRawUri), "/a%20b?c=%41");
  EXPECT_EQ(http.of_request(kHttpHost), "www.example.com");
  EXPECT_EQ(http.of_request(kHttpRawHost), "Www.Example.COM:8080");
  EXPECT_EQ(http.of_request(kHttpUserAgent), "Agent/1");
  EXPECT_EQ(http.of_request(kHttpReferer), "http://r/");
  EXPECT_EQ(http.of_request(kHttpAccept), "*/*");
  EXPECT_EQ(http.of_request(kHttpAcceptEncoding), "gzip");
  EXPECT_EQ(http.of_request(kHttpAcceptLanguage), "de");
  EXPECT_EQ(http.of_request(kHttpConnection), "close");
  EXPECT_EQ(http.of_request(kHttpCookie), "k=v");
  EXPECT_EQ(http.of_request(kHttpProtocol), "HTTP/1.1");
  EXPECT_EQ(http.of_request(kHttpRequestLine), "GET /a%20b?c=%41 HTTP/1.1");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "(none)");
  EXPECT_EQ(http.of_request(kHttpHeader),
            "Host: Www.Example.COM:8080\r\nUser-Agent: Agent/1\r\nReferer: http://r/\r\n"
            "Accept: */*\r\nAccept-Encoding: gzip\r\nAccept-Language: de\r\n"
            "Connection: close\r\nX-Own: two\r\n");
  EXPECT_EQ(http.of_request(kHttpHeaderNames),
            "\r\nHost\r\nUser-Agent\r\nReferer\r\nAccept\r\nAccept-Encoding\r\nAccept-Language\r\n"
            "Cookie\r\nConnection\r\nX-Own\r\n\r\n");
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_FALSE(http.is_complete(1));
}

TEST(HttpHeaders, HeadersByThemselvesAndAsTheyWereSent) {
  HttpRun http;
  http.request("GET / HTTP/1.1\r\nA:1\r\nB: x\r\n  y\r\nA: 2\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpRequestHeader), "A: 1, 2|B: x  y");
  EXPECT_EQ(http.of_request(kHttpRawHeader), "A:1\r\nB: x\r\n  y\r\nA: 2\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpStart), "GET / HTTP/1.1\r\nA: 1, 2\r\nB: x  y\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpResponseHeader), "(none)");
}

TEST(HttpHeaders, BuffersOfAResponse) {
  HttpRun http;
  http.request("GET /f.bin?x HTTP/1.1\r\n\r\n");
  http.response(
      "HTTP/1.1 302 Moved On\r\nServer: s/1\r\nLocation: /new\r\nSet-Cookie: a=1\r\n"
      "Content-Type: text/html\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "302");
  EXPECT_EQ(http.of_response(kHttpStatusMessage), "Moved On");
  EXPECT_EQ(http.of_response(kHttpResponseLine), "HTTP/1.1 302 Moved On");
  EXPECT_EQ(http.of_response(kHttpProtocol), "HTTP/1.1");
  EXPECT_EQ(http.of_response(kHttpServer), "s/1");
  EXPECT_EQ(http.of_response(kHttpLocation), "/new");
  EXPECT_EQ(http.of_response(kHttpCookie), "a=1");
  EXPECT_EQ(http.of_response(kHttpContentType), "text/html");
  EXPECT_EQ(http.of_response(kHttpContentLength), "5");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "hello");
  EXPECT_EQ(http.of_response(kFileData), "hello");
  EXPECT_EQ(http.of_response(kFileName), "/f.bin");
  EXPECT_EQ(http.of_response(kHttpHeader),
            "Server: s/1\r\nLocation: /new\r\nContent-Type: text/html\r\nContent-Length: 5\r\n");
  EXPECT_TRUE(http.is_complete(1));
  EXPECT_EQ(http.parser.transactions(), 1u);
}

/// What Suricata documents of its normalisation.
TEST(HttpHeaders, UrisAreNormalised) {
  const std::pair<const char*, const char*> kCases[] = {
      {"/a/./b/../c", "/a/c"},
      {"/a//b", "/a/b"},
      {"/a\\b", "/a/b"},
      {"/%2e%2e/x", "/x"},
      {"/a%2fb", "/a/b"},
      {"/%u0041", "/A"},
      {"/%2541", "/%41"},
      {"/a+b?c+d", "/a+b?c+d"},
      {"/?q=%3cscript%3e", "/?q=<script>"},
      {"/?q=../x//y", "/?q=../x//y"},
      {"/A", "/A"},
      {"http://host/p?q#f", "/p?q#f"},
  };
  for (const auto& [raw, normalised] : kCases) {
    HttpRun http;
    http.request(std::string("GET ") + raw + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(http.of_request(kHttpUri), normalised) << raw;
    EXPECT_EQ(http.of_request(kHttpRawUri), raw);
  }
}

TEST(HttpHeaders, TheTargetOfConnectIsAHostUnlessItIsAPath) {
  HttpRun http, path, both;
  http.request("CONNECT Name:443 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpHost), "name");
  path.request("CONNECT / HTTP/1.1\r\nX: 1\r\n\r\n");
  EXPECT_EQ(path.of_request(kHttpHost), "(none)");
  EXPECT_EQ(path.of_request(kHttpRawHost), "(none)");
  both.request("CONNECT /a HTTP/1.1\r\nHost: [2001:DB8::1]:80\r\n\r\n");
  EXPECT_EQ(both.of_request(kHttpHost), "[2001:db8::1]");
  EXPECT_EQ(both.of_request(kHttpRawHost), "[2001:DB8::1]:80");
}

TEST(HttpHeaders, AHeaderInSeveralLinesIsOne) {
  HttpRun http;
  http.response("HTTP/1.1 200 OK\r\nContent-Length: \r\n 2\r\nServer:\r\n\ta\r\n\r\nab");
  EXPECT_EQ(http.of_response(kHttpServer), "a");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "ab");
  EXPECT_TRUE(http.is_complete(1));
}

TEST(HttpHeaders, AnOldRequestHasNoHeaders) {
  HttpRun http;
  http.request("GET /old\r\n").response("<p>old");
  http.parser.end(1, http.record);
  EXPECT_EQ(http.of_request(kHttpUri), "/old");
  EXPECT_EQ(http.of_request(kHttpProtocol), "(none)");
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_response(kHttpResponseBody), "<p>old");
}

TEST(HttpHeaders, ContinueIsNoResponse) {
  HttpRun http;
  http.request("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  http.response("HTTP/1.1 100 Continue\r\n\r\n").request("ab");
  http.response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "200");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "ok");
  EXPECT_EQ(http.record.transactions.size(), 1u);
}

}  // namespace
}  // namespace millrace
