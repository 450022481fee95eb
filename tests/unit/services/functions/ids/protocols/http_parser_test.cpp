// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_parser.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

/// A parser and what it has told.
struct Http {
  AppLimits limits;
  HttpParser parser{limits, 0};
  BufferRecord record;

  explicit Http(AppLimits with = {}) : limits(with), parser(with, 0) {}
  Http& request(std::string_view bytes) {
    parser.read(0, as_bytes(bytes), record);
    return *this;
  }
  Http& response(std::string_view bytes) {
    parser.read(1, as_bytes(bytes), record);
    return *this;
  }
  std::string of_request(RuleBuffer buffer, std::uint64_t number = 0) const {
    return record.text(number, 0, buffer);
  }
  std::string of_response(RuleBuffer buffer, std::uint64_t number = 0) const {
    return record.text(number, 1, buffer);
  }
  bool is_complete(int direction, std::uint64_t number = 0) const {
    return record.transactions.at(number).is_complete[direction];
  }
};

TEST(HttpParser, BuffersOfARequest) {
  Http http;
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

TEST(HttpParser, HeadersByThemselvesAndAsTheyWereSent) {
  Http http;
  http.request("GET / HTTP/1.1\r\nA:1\r\nB: x\r\n  y\r\nA: 2\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpRequestHeader), "A: 1, 2|B: x  y");
  EXPECT_EQ(http.of_request(kHttpRawHeader), "A:1\r\nB: x\r\n  y\r\nA: 2\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpStart), "GET / HTTP/1.1\r\nA: 1, 2\r\nB: x  y\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpResponseHeader), "(none)");
}

TEST(HttpParser, BuffersOfAResponse) {
  Http http;
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
TEST(HttpParser, UrisAreNormalised) {
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
    Http http;
    http.request(std::string("GET ") + raw + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(http.of_request(kHttpUri), normalised) << raw;
    EXPECT_EQ(http.of_request(kHttpRawUri), raw);
  }
}

TEST(HttpParser, BodiesAreSeenAsTheyCome) {
  Http http;
  http.request("POST /p HTTP/1.1\r\nContent-Length: 6\r\n\r\nab");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "ab");
  EXPECT_FALSE(http.is_complete(0));
  http.request("cdef");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abcdef");
  EXPECT_EQ(http.of_request(kFileData), "abcdef");
  EXPECT_EQ(http.of_request(kFileName), "/p");
  EXPECT_TRUE(http.is_complete(0));
}

TEST(HttpParser, ChunksAreJoined) {
  Http http;
  http.request("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abcde");
  http.request("0\r\nTrailer: 1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/2");
  http.response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "wxyz");
  EXPECT_EQ(http.parser.transactions(), 1u);
}

TEST(HttpParser, FilesOfAForm) {
  Http http;
  const std::string body =
      "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\none\r\n--B\r\n"
      "Content-Disposition: form-data; filename=\"b.txt\"\r\n\r\ntwo\r\n--B--\r\n";
  http.request(
      "POST /up HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(http.of_request(kFileData), "one|two");
  EXPECT_EQ(http.of_request(kFileName), "a.txt|b.txt");
  EXPECT_EQ(http.of_request(kHttpRequestBody), body);
}

TEST(HttpParser, AResponseNamesItsFile) {
  Http http;
  http.request("GET /x HTTP/1.1\r\n\r\n");
  http.response(
      "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"setup.exe\"\r\n"
      "Content-Length: 2\r\n\r\nMZ");
  EXPECT_EQ(http.of_response(kFileName), "setup.exe");
}

TEST(HttpParser, PipelinedRequestsHaveTheirResponsesInOrder) {
  Http http;
  http.request("GET /0 HTTP/1.1\r\n\r\nHEAD /1 HTTP/1.1\r\n\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  http.response(
      "HTTP/1.1 200 A\r\nContent-Length: 1\r\n\r\na"
      "HTTP/1.1 200 B\r\nContent-Length: 9\r\n\r\n\r\nHTTP/1.1 304 C\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 0), "A");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 1), "B");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 2), "C");
  EXPECT_EQ(http.of_response(kHttpResponseBody, 1), "(none)");
  EXPECT_EQ(http.parser.transactions(), 3u);
}

TEST(HttpParser, ContinueIsNoResponse) {
  Http http;
  http.request("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  http.response("HTTP/1.1 100 Continue\r\n\r\n").request("ab");
  http.response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "200");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "ok");
  EXPECT_EQ(http.record.transactions.size(), 1u);
}

TEST(HttpParser, ABodyWithoutALengthEndsWithTheStream) {
  Http http;
  http.request("GET / HTTP/1.0\r\n\r\n").response("HTTP/1.0 200 OK\r\n\r\nab").response("cd");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "abcd");
  EXPECT_FALSE(http.is_complete(1));
  EXPECT_EQ(http.parser.settled(1), 0u);
  http.parser.end(1, http.record);
  EXPECT_TRUE(http.is_complete(1));
  EXPECT_EQ(http.parser.settled(1), 23u);
}

TEST(HttpParser, WhatIsCutOffAtTheEndIsThere) {
  Http http;
  http.request("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
  http.parser.end(0, http.record);
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abc");
  http.response("HTTP/1.1 200 OK\r\nServer: s\r\nX: y\r\nZ");
  http.parser.end(1, http.record);
  EXPECT_TRUE(http.is_complete(1));
  EXPECT_EQ(http.of_response(kHttpServer), "s");
}

TEST(HttpParser, AnOldRequestHasNoHeaders) {
  Http http;
  http.request("GET /old\r\n").response("<p>old");
  http.parser.end(1, http.record);
  EXPECT_EQ(http.of_request(kHttpUri), "/old");
  EXPECT_EQ(http.of_request(kHttpProtocol), "(none)");
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_response(kHttpResponseBody), "<p>old");
}

TEST(HttpParser, ResponsesWithoutARequest) {
  Http http;
  http.response(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab\r\nHTTP/1.1 404 No\r\n"
      "Content-Length: 0\r\n\r\n");
  http.request("GET /r HTTP/1.1\r\n\r\n").response("HTTP/1.1 200 Yes\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpResponseBody, 0), "ab");
  EXPECT_EQ(http.of_request(kHttpUri, 0), "(none)");
  EXPECT_EQ(http.of_response(kHttpStatusCode, 1), "404");
  EXPECT_EQ(http.of_request(kHttpUri, 2), "/r");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 2), "Yes");
  EXPECT_EQ(http.parser.transactions(), 3u);
}

TEST(HttpParser, BytesThatAreNoResponseAreABody) {
  Http http;
  http.request("GET / HTTP/1.1\r\n\r\n");
  http.response("junk\nju").response("nk\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "junk\njunk\na");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "200");
}

TEST(HttpParser, BehindATunnelIsNoHttp) {
  Http http;
  http.request("CONNECT a:443 HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpMethod), "CONNECT");
  http.response("HTTP/1.1 200 OK\r\n\r\nbytes").request("more").response("more");
  EXPECT_TRUE(http.parser.is_done());
  EXPECT_TRUE(http.is_complete(0) && http.is_complete(1));
  EXPECT_EQ(http.record.transactions.size(), 1u);
}

TEST(HttpParser, ATunnelThatIsRefusedIsNone) {
  Http http;
  http.request("CONNECT a:443 HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n");
  http.response("HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_FALSE(http.parser.is_done());
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/next");
  EXPECT_EQ(http.parser.transactions(), 1u);
}

TEST(HttpParser, AnUpgradeEndsHttp) {
  Http http;
  http.request("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
  http.response("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x05hello");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "101");
  EXPECT_TRUE(http.parser.is_done());
}

TEST(HttpParser, WhatIsNotUnderstoodLeavesWhatCame) {
  Http http;
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

TEST(HttpParser, ABrokenResponseShowsItsHeaders) {
  Http http;
  http.request("GET / HTTP/1.1\r\n\r\n");
  http.response("HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: x\r\n\r\nabc");
  EXPECT_TRUE(http.parser.is_broken(1));
  EXPECT_EQ(http.of_response(kHttpServer), "s");
  http.request("GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/2");
}

TEST(HttpParser, HeadsOfAnyLengthAreNotKept) {
  AppLimits limits;
  limits.header_bytes = 1000;
  const std::string line(600, 'x');
  Http one(limits), two(limits), three(limits);
  one.request("GET /" + line + line);
  EXPECT_TRUE(one.parser.is_broken(0));
  two.request("GET / HTTP/1.1\r\nA: " + line + "\r\nB: ").request(line + "\r\n\r\n");
  EXPECT_TRUE(two.parser.is_broken(0));
  for (int i = 0; i < 5; ++i) three.request("GET / HTTP/1.1\r\nA: " + line + "\r\n\r\n");
  EXPECT_FALSE(three.parser.is_broken(0));
}

TEST(HttpParser, ABodyIsSeenWholeHoweverLittleIsKept) {
  AppLimits limits;
  limits.body_bytes = 100;
  Http http(limits);
  std::string body;
  for (int i = 0; i < 5000; ++i) body += std::to_string(i);
  http.request("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body);
  EXPECT_EQ(http.of_request(kHttpRequestBody), body);
  EXPECT_EQ(http.of_request(kFileData), body);
  EXPECT_FALSE(http.record.lost_bytes);
}

TEST(HttpParser, RequestsWithoutAResponseAreGivenUp) {
  AppLimits limits;
  limits.transactions = 2;
  Http http(limits);
  for (int i = 0; i < 4; ++i) http.request("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.is_complete(1, 0) && http.is_complete(1, 1));
  EXPECT_FALSE(http.is_complete(1, 2));
  http.response("HTTP/1.1 200 0\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 2), "(none)");
  for (int i = 0; i < 100; ++i) http.request("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.parser.is_broken(0));
}

TEST(HttpParser, ManyTransactionsOnOneConnection) {
  Http http;
  for (int i = 0; i < 1000; ++i) {
    http.request("GET /" + std::to_string(i) + " HTTP/1.1\r\n\r\n");
    http.response("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
  EXPECT_EQ(http.parser.transactions(), 1000u);
  EXPECT_EQ(http.of_request(kHttpUri, 999), "/999");
}

}  // namespace
}  // namespace millrace
