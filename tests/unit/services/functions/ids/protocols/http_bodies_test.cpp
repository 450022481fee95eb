// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_exchange.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

TEST(HttpBodies, BodiesAreSeenAsTheyCome) {
  HttpRun http;
  http.request("POST /p HTTP/1.1\r\nContent-Length: 6\r\n\r\nab");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "ab");
  EXPECT_FALSE(http.is_complete(0));
  http.request("cdef");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abcdef");
  EXPECT_EQ(http.of_request(kFileData), "abcdef");
  EXPECT_EQ(http.of_request(kFileName), "/p");
  EXPECT_TRUE(http.is_complete(0));
}

/// Transactions that are there still.
class KeepingSink final : public TransactionSink {
 public:
  void on_news(Transaction& transaction, std::uint8_t direction) noexcept override {
    if (transaction.number() == there.size()) there.push_back(&transaction);
    looked_at += transaction.parts(0, kHttpRequestBody).empty() ? 0 : 1;
    transaction.taken(direction);
  }
  std::vector<Transaction*> there;
  std::size_t looked_at = 0;
};

TEST(HttpBodies, RequestsThatWaitForAResponseKeepNone) {
  constexpr std::size_t kRequests = 20;
  KeepingSink sink;
  HttpParser parser({}, 0);
  const std::string body(5000, 'b');
  for (std::size_t i = 0; i < kRequests; ++i) {
    parser.read(0, bytes_of("POST /long HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + body), sink);
  }
  ASSERT_EQ(sink.there.size(), kRequests);
  EXPECT_GE(sink.looked_at, kRequests);
  for (Transaction* transaction : sink.there) {
    EXPECT_TRUE(transaction->parts(0, kHttpRequestBody).empty());
    EXPECT_TRUE(transaction->parts(0, kFileData).empty());
    EXPECT_EQ(transaction->parts(0, kHttpUri).at(0).bytes, "/long");
  }
}

TEST(HttpBodies, ChunksAreJoined) {
  HttpRun http;
  http.request("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n");
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abcde");
  http.request("0\r\nTrailer: 1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_request(kHttpUri, 1), "/2");
  http.response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "wxyz");
  EXPECT_EQ(http.parser.transactions(), 1u);
}

TEST(HttpBodies, FilesOfAForm) {
  HttpRun http;
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

TEST(HttpBodies, AResponseNamesItsFile) {
  HttpRun http;
  http.request("GET /x HTTP/1.1\r\n\r\n");
  http.response(
      "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"setup.exe\"\r\n"
      "Content-Length: 2\r\n\r\nMZ");
  EXPECT_EQ(http.of_response(kFileName), "setup.exe");
}

TEST(HttpBodies, ABodyIsSeenWholeHoweverLittleIsKept) {
  AppLimits limits;
  limits.body_bytes = 100;
  HttpRun http(limits);
  std::string body;
  for (int i = 0; i < 5000; ++i) body += std::to_string(i);
  http.request("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body);
  EXPECT_EQ(http.of_request(kHttpRequestBody), body);
  EXPECT_EQ(http.of_request(kFileData), body);
  EXPECT_FALSE(http.record.lost_bytes);
}

TEST(HttpBodies, BytesThatAreNoResponseAreABody) {
  HttpRun http;
  http.request("GET / HTTP/1.1\r\n\r\n");
  http.response("junk\nju").response("nk\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "junk\njunk\na");
  EXPECT_EQ(http.of_response(kHttpStatusCode), "200");
}

TEST(HttpBodies, ABodyWithoutALengthEndsWithTheStream) {
  HttpRun http;
  http.request("GET / HTTP/1.0\r\n\r\n").response("HTTP/1.0 200 OK\r\n\r\nab").response("cd");
  EXPECT_EQ(http.of_response(kHttpResponseBody), "abcd");
  EXPECT_FALSE(http.is_complete(1));
  EXPECT_EQ(http.parser.settled(1), 0u);
  http.parser.end(1, http.record);
  EXPECT_TRUE(http.is_complete(1));
  EXPECT_EQ(http.parser.settled(1), 23u);
}

}  // namespace
}  // namespace millrace
