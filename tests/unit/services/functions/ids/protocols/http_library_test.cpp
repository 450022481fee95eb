// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

using enum RuleBuffer;

// Made by Python's gzip and zlib: a sentence three times, as gzip, zlib, raw deflate, gzip of gzip;
// 5000 times the letter A.
constexpr std::string_view kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x0b\xc9\x48\x55\x28\x2c\xcd\x4c"
    "\xce\x56\x48\x2a\xca\x2f\xcf\x53\x48\xcb\xaf\x50\xc8\x2a\xcd\x2d\x28\x56"
    "\xc8\x2f\x4b\x2d\x52\x28\x01\x4a\xe7\x24\x56\x55\x2a\xa4\xe4\xa7\xeb\x29"
    "\x84\xd0\x4c\x31\x00\x58\x00\x1e\x00\x87\x00\x00\x00",
    67);
constexpr std::string_view kZlib(
    "\x78\xda\x0b\xc9\x48\x55\x28\x2c\xcd\x4c\xce\x56\x48\x2a\xca\x2f\xcf\x53"
    "\x48\xcb\xaf\x50\xc8\x2a\xcd\x2d\x28\x56\xc8\x2f\x4b\x2d\x52\x28\x01\x4a"
    "\xe7\x24\x56\x55\x2a\xa4\xe4\xa7\xeb\x29\x84\xd0\x4c\x31\x00\xf9\x3c\x30"
    "\x76",
    55);
constexpr std::string_view kDeflate(
    "\x0b\xc9\x48\x55\x28\x2c\xcd\x4c\xce\x56\x48\x2a\xca\x2f\xcf\x53\x48\xcb"
    "\xaf\x50\xc8\x2a\xcd\x2d\x28\x56\xc8\x2f\x4b\x2d\x52\x28\x01\x4a\xe7\x24"
    "\x56\x55\x2a\xa4\xe4\xa7\xeb\x29\x84\xd0\x4c\x31\x00",
    49);
constexpr std::string_view kTwice(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x93\xef\xe6\x60\x00\x01\x26\x66"
    "\xee\x93\x1e\xa1\x1a\x3a\x67\x7d\xce\x85\x79\x68\x9d\xd2\x3f\x1f\xec\x71"
    "\x7a\x7d\xc0\x09\xad\xb3\xba\x1a\x61\x27\xf4\xbd\x75\x83\x34\x18\xbd\x9e"
    "\xab\x84\x85\x6a\x2d\x79\xb2\xfc\xb5\x66\xcb\x05\x1f\x43\x86\x08\x06\x39"
    "\x86\x76\xa0\x56\x00\x11\x01\x99\x5f\x43\x00\x00\x00",
    85);
constexpr std::string_view kManyLetters(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00\x00\xc2"
    "\xa0\x6c\xeb\x5f\xca\x14\x7e\x40\x01\x00\x00\x00\x00\x6f\x03\xbe\x7b\x1a"
    "\x13\x88\x13\x00\x00",
    41);

std::string sentence() {
  const std::string one = "The quick brown fox jumps over the lazy dog. ";
  return one + one + one;
}

std::unique_ptr<HttpRun> run_of(std::string_view encoding, std::string_view body, AppLimits limits,
                                std::size_t piece) {
  auto http = std::make_unique<HttpRun>(limits);
  http->request("GET / HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Encoding: ";
  bytes.append(encoding).append("\r\nContent-Length: ").append(std::to_string(body.size()));
  bytes.append("\r\n\r\n").append(body);
  bytes += "HTTP/1.1 200 Next\r\nContent-Length: 0\r\n\r\n";
  std::string_view rest = bytes;
  while (!rest.empty()) {
    http->response(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  return http;
}

TEST(HttpLibrary, BodiesAreInflated) {
  const std::pair<const char*, std::string_view> kCases[] = {{"gzip", kGzip},
                                                             {"x-gzip", kGzip},
                                                             {"deflate", kZlib},
                                                             {"deflate", kDeflate},
                                                             {"gzip, gzip", kTwice}};
  for (const auto& [encoding, body] : kCases) {
    for (const std::size_t piece : {1, 7, 10'000}) {
      const auto run = run_of(encoding, body, {}, piece);
      const HttpRun& http = *run;
      EXPECT_EQ(http.of_response(kHttpResponseBody), sentence()) << encoding << piece;
      EXPECT_EQ(http.of_response(kFileData), sentence());
      EXPECT_EQ(http.of_response(kHttpStatusMessage, 1), "Next");
    }
  }
}

TEST(HttpLibrary, RequestsAreInflated) {
  HttpRun http;
  http.request("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: " +
               std::to_string(kGzip.size()) + "\r\n\r\n" + std::string(kGzip));
  EXPECT_EQ(http.of_request(kHttpRequestBody), sentence());
}

TEST(HttpLibrary, WhatSaysGzipAndIsPlainStaysAsItIs) {
  // libhtp takes it for raw deflate.
  const std::string plain = "{\"sdk_version\":11026,\"app_package\":\"com.example\"}\r\n";
  HttpRun http;
  http.request("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: " +
               std::to_string(plain.size()) + "\r\n\r\n" + plain);
  EXPECT_EQ(http.of_request(kHttpRequestBody), plain);
  for (const std::size_t piece : {1, 7, 10'000}) {
    const auto run = run_of("gzip", plain, {}, piece);
    EXPECT_EQ(run->of_response(kHttpResponseBody), plain) << piece;
    EXPECT_EQ(run->of_response(kHttpStatusMessage, 1), "Next");
  }
}

TEST(HttpLibrary, UnknownEncodingsStayAsTheyAre) {
  EXPECT_EQ(run_of("br", "abc", {}, 1)->of_response(kHttpResponseBody), "abc");
}

TEST(HttpLibrary, ABodyInflatesToNoMoreThanItsLimit) {
  AppLimits limits;
  limits.inflate_bytes = 1000;
  for (const std::size_t piece : {1, 10'000}) {
    const auto run = run_of("gzip", kManyLetters, limits, piece);
    const HttpRun& http = *run;
    const std::string body = http.of_response(kHttpResponseBody);
    EXPECT_LE(body == "(none)" ? 0 : body.size(), 1000u);
    EXPECT_FALSE(http.parser.is_broken(1));
    EXPECT_EQ(http.of_response(kHttpStatusMessage, 1), "Next");
  }
}

TEST(HttpLibrary, LayersAreLimited) {
  AppLimits limits;
  limits.inflate_layers = 1;
  EXPECT_EQ(run_of("gzip, gzip", kTwice, limits, 100)->of_response(kHttpResponseBody), kGzip);
  limits.inflate_layers = 0;
  EXPECT_EQ(run_of("gzip", kGzip, limits, 100)->of_response(kHttpResponseBody), kGzip);
}

TEST(HttpLibrary, TextsAreBorrowed) {
  EXPECT_EQ(text_of(nullptr), "");
  bstr* text = bstr_dup_c("abc");
  EXPECT_EQ(text_of(text), "abc");
  bstr_free(text);
}

}  // namespace
}  // namespace millrace
