// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_parser.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

/// Dialogues of every kind of message, one behind the other.
class Dialogues {
 public:
  explicit Dialogues(unsigned seed) : random_(seed) {}
  Dialogue make() {
    Dialogue dialogue;
    const std::size_t exchanges = 1 + random_() % 6;
    for (std::size_t i = 0; i < exchanges; ++i) add_exchange(dialogue);
    if (random_() % 3 == 0) add(dialogue, 1, "HTTP/1.0 200 OK\r\n\r\n" + text(), true);
    return dialogue;
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  static void add(Dialogue& dialogue, std::uint8_t direction, std::string bytes,
                  bool is_end = false) {
    dialogue.push_back({.direction = direction, .is_end = is_end, .bytes = std::move(bytes)});
  }
  std::string text() {
    std::string made(random_() % 60, ' ');
    for (char& c : made) c = "ab\r\nHTTP/1.G0%&;:-"[random_() % 19];
    return made;
  }
  std::string chunked(std::string_view body) {
    std::string made;
    while (!body.empty()) {
      const std::size_t bytes = 1 + random_() % body.size();
      char length[20];
      std::snprintf(length, sizeof length, "%zx", bytes);
      made.append(length).append(random_() % 3 == 0 ? ";e=1\r\n" : "\r\n");
      made.append(body.substr(0, bytes)).append("\r\n");
      body.remove_prefix(bytes);
    }
    return made + (random_() % 3 == 0 ? "0\r\nT: 1\r\n\r\n" : "0\r\n\r\n");
  }
  std::string with_body(const std::string& head) {
    const std::string body = text();
    if (random_() % 2 == 0) {
      return head + "Transfer-Encoding: chunked\r\n\r\n" + chunked(body);
    }
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string form() {
    const std::string body = "--B\r\nContent-Disposition: x; filename=\"a\"\r\n\r\n" + text() +
                             "\r\n--B\r\nX: y\r\n\r\n" + text() + "\r\n--B--\r\n";
    return "POST /form HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  void add_exchange(Dialogue& dialogue) {
    const std::string response = with_body("HTTP/1.1 200 OK\r\nServer: s\r\nX: a\r\n b\r\n");
    switch (random_() % 8) {
      case 0:
        add(dialogue, 0, form());
        break;
      case 1:
        add(dialogue, 0, with_body("POST /p HTTP/1.1\r\nHost: h\r\n"));
        break;
      case 2:
        add(dialogue, 0, "HEAD / HTTP/1.1\r\n\r\n");
        return add(dialogue, 1, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
      case 3:
        add(dialogue, 0, "CONNECT h:1 HTTP/1.1\r\n\r\n");
        return add(dialogue, 1, "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
      case 4:
        add(dialogue, 0, "PUT /e HTTP/1.1\r\nContent-Length: 3\r\n\r\n");
        add(dialogue, 1, "HTTP/1.1 100 Continue\r\n\r\n");
        add(dialogue, 0, "abc");
        break;
      case 5:
        break;  // a response without a request
      case 6:
        add(dialogue, 0, "GET /1 HTTP/1.1\r\nA: b\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
        add(dialogue, 1, response);
        break;
      default:
        add(dialogue, 0, "GET /g HTTP/1.1\r\nUser-Agent: u\r\nCookie: c\r\n\r\n");
        break;
    }
    add(dialogue, 1, response);
  }

  std::mt19937 random_;
};

TEST(HttpParser, PiecesDoNotMatter) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Dialogues dialogues(seed);
    const Dialogue dialogue = dialogues.make();
    HttpRun whole, pieces, bytes;
    play_dialogue(dialogue, whole);
    play_dialogue(cut_dialogue(dialogue, [&] { return 1 + dialogues.below(20); }), pieces);
    play_dialogue(cut_dialogue(dialogue, [] { return 1; }), bytes);
    ASSERT_TRUE(is_same_behind(whole, pieces, 0)) << seed;
    ASSERT_TRUE(is_same_behind(whole, bytes, 0)) << seed;
    ASSERT_EQ(whole.parser.transactions(), bytes.parser.transactions());
    for (const int direction : {0, 1}) {
      ASSERT_EQ(whole.parser.settled(direction), bytes.parser.settled(direction));
      ASSERT_FALSE(whole.parser.is_broken(direction));
    }
  }
}

TEST(HttpParser, AParserThatIsMadeAnewComesToTheSame) {
  std::size_t behind = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Dialogues dialogues(seed);
    const Dialogue dialogue =
        cut_dialogue(dialogues.make(), [&] { return 1 + dialogues.below(40); });
    HttpRun whole, front;
    play_dialogue(dialogue, whole);
    play_dialogue(std::span(dialogue).first(dialogues.below(dialogue.size() + 1)), front);
    const std::uint64_t first = front.parser.transactions();
    HttpRun anew({}, first);
    play_dialogue(without_front(dialogue, {front.parser.settled(0), front.parser.settled(1)}),
                  anew);
    ASSERT_TRUE(is_same_behind(whole, anew, first)) << seed;
    ASSERT_EQ(whole.parser.transactions(), anew.parser.transactions()) << seed;
    behind += first;
  }
  EXPECT_GT(behind, 150u);
}

TEST(HttpParser, PipelinedRequestsHaveTheirResponsesInOrder) {
  HttpRun http;
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

TEST(HttpParser, WhatIsCutOffAtTheEndIsThere) {
  HttpRun http;
  http.request("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
  http.parser.end(0, http.record);
  EXPECT_TRUE(http.is_complete(0));
  EXPECT_EQ(http.of_request(kHttpRequestBody), "abc");
  http.response("HTTP/1.1 200 OK\r\nServer: s\r\nX: y\r\nZ");
  http.parser.end(1, http.record);
  EXPECT_TRUE(http.is_complete(1));
  EXPECT_EQ(http.of_response(kHttpServer), "s");
}

TEST(HttpParser, ResponsesWithoutARequest) {
  HttpRun http;
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

TEST(HttpParser, HeadsOfAnyLengthAreNotKept) {
  AppLimits limits;
  limits.header_bytes = 1000;
  const std::string line(600, 'x');
  HttpRun one(limits), two(limits), three(limits);
  one.request("GET /" + line + line);
  EXPECT_TRUE(one.parser.is_broken(0));
  two.request("GET / HTTP/1.1\r\nA: " + line + "\r\nB: ").request(line + "\r\n\r\n");
  EXPECT_TRUE(two.parser.is_broken(0));
  for (int i = 0; i < 5; ++i) three.request("GET / HTTP/1.1\r\nA: " + line + "\r\n\r\n");
  EXPECT_FALSE(three.parser.is_broken(0));
}

TEST(HttpParser, RequestsWithoutAResponseAreGivenUp) {
  AppLimits limits;
  limits.transactions = 2;
  HttpRun http(limits);
  for (int i = 0; i < 4; ++i) http.request("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.is_complete(1, 0) && http.is_complete(1, 1));
  EXPECT_FALSE(http.is_complete(1, 2));
  http.response("HTTP/1.1 200 0\r\n\r\n");
  EXPECT_EQ(http.of_response(kHttpStatusMessage, 2), "(none)");
  for (int i = 0; i < 100; ++i) http.request("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http.parser.is_broken(0));
}

TEST(HttpParser, ManyTransactionsOnOneConnection) {
  HttpRun http;
  for (int i = 0; i < 1000; ++i) {
    http.request("GET /" + std::to_string(i) + " HTTP/1.1\r\n\r\n");
    http.response("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
  EXPECT_EQ(http.parser.transactions(), 1000u);
  EXPECT_EQ(http.of_request(kHttpUri, 999), "/999");
}

}  // namespace
}  // namespace millrace
