// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/functions/ids/work_budget.hpp"
#include "tests/unit/services/functions/ids/protocols/app_conversation.hpp"
#include "tests/unit/services/functions/ids/protocols/http2_wire.hpp"

namespace millrace {
namespace {

using http2_wire::block, http2_wire::data, http2_wire::frame, http2_wire::get, http2_wire::headers,
    http2_wire::kWhole, http2_wire::number;

class Http2Flow : public testing::Test {
 protected:
  Http2Flow() { limits_.work = &work_; }
  void SetUp() override {
    work_.begin(WorkShare::kUnitsMax);
    conversation_.emplace(std::uint16_t{80}, limits_);
  }
  void client(const std::string& bytes) { conversation_->speak({.direction = 0, .text = bytes}); }
  void server(const std::string& bytes) { conversation_->speak({.direction = 1, .text = bytes}); }
  /// In the first transaction that has that value; by direction.
  std::vector<std::string> values(RuleBuffer buffer, std::uint8_t direction) {
    std::vector<std::string> found;
    for (const auto& [key, record] : conversation_->told().records) {
      const auto at = record.buffers.find(buffer);
      if (key.second != direction || at == record.buffers.end()) continue;
      found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }
  using Values = std::vector<std::string>;

  AppLimits limits_;
  WorkShare work_;
  std::optional<AppConversation> conversation_;
};

const std::string kBegin(kHttp2Preface);

TEST_F(Http2Flow, AStreamHasTheBuffersOfHttp) {
  client(kBegin + headers(1, {{":method", "POST"},
                              {":path", "/a%20b?c=d"},
                              {":authority", "A.test:80"},
                              {"user-agent", "agent"},
                              {"cookie", "a=b"},
                              {"cookie", "c=d"}}));
  EXPECT_EQ(conversation_->session().protocol(), AppProtocol::kHttp2);
  client(data(1, "up", false) + data(1, "load"));
  server(headers(1, {{":status", "404"}, {"server", "s"}}) + data(1, "not found"));
  const AppRecord request = conversation_->told().record(0, 0);
  EXPECT_TRUE(request.is_complete);
  EXPECT_EQ(request.value(RuleBuffer::kHttpMethod), "POST");
  EXPECT_EQ(request.value(RuleBuffer::kHttpUri), "/a%20b?c=d");
  EXPECT_EQ(request.value(RuleBuffer::kHttpHost), "a.test");
  EXPECT_EQ(request.value(RuleBuffer::kHttpRawHost), "A.test:80");
  EXPECT_EQ(request.value(RuleBuffer::kHttpUserAgent), "agent");
  EXPECT_EQ(request.value(RuleBuffer::kHttpCookie), "a=b; c=d");
  EXPECT_EQ(request.value(RuleBuffer::kHttpRequestLine), "POST /a%20b?c=d HTTP/2\r\n");
  EXPECT_EQ(request.value(RuleBuffer::kHttpProtocol), "HTTP/2");
  EXPECT_EQ(request.value(RuleBuffer::kHttpRequestBody), "upload");
  EXPECT_EQ(request.value(RuleBuffer::kFileData), "upload");
  EXPECT_EQ(request.value(RuleBuffer::kFileName), "/a%20b");
  EXPECT_EQ(request.value(RuleBuffer::kHttpHeaderNames),
            "\r\n:method\r\n:path\r\n:authority\r\nuser-agent\r\ncookie\r\ncookie\r\n\r\n");
  const AppRecord response = conversation_->told().record(0, 1);
  EXPECT_TRUE(response.is_complete);
  EXPECT_EQ(response.value(RuleBuffer::kHttpStatusCode), "404");
  EXPECT_EQ(response.value(RuleBuffer::kHttpStatusMessage), "");
  EXPECT_EQ(response.value(RuleBuffer::kHttpResponseLine), "HTTP/2 404\r\n");
  EXPECT_EQ(response.value(RuleBuffer::kFileData), "not found");
  EXPECT_EQ(response.value(RuleBuffer::kHttpHeader), ":status: 404\r\nserver: s\r\n");
}

TEST_F(Http2Flow, BytesComeInAnyPieces) {
  for (const char byte : kBegin + get(1, "/one") + get(3, "/two")) client({byte});
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/one", "/two"}));
}

TEST_F(Http2Flow, ABlockGoesOnInFramesThatContinueIt) {
  const std::string whole = block({{":method", "GET"}, {":path", "/path"}});
  client(kBegin + frame(Http2Type::kHeaders, http2_flags::kEndStream, 1, whole.substr(0, 5)) +
         frame(Http2Type::kContinuation, 0, 1, whole.substr(5, 3)) +
         frame(Http2Type::kContinuation, http2_flags::kEndHeaders, 1, whole.substr(8)));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/path"}));
  EXPECT_EQ(values(RuleBuffer::kHttp2FrameType, 0), (Values{"\1", "\x9"}));
  EXPECT_FALSE(conversation_->session().is_broken(0));
}

TEST_F(Http2Flow, FramesOfTheConnectionAreTransactionsOfTheirOwn) {
  const std::string setting("\0\2\0\0\0\1", 6);
  client(kBegin + frame(Http2Type::kSettings, 0, 0, setting) +
         frame(Http2Type::kWindowUpdate, 0, 0, number(77, 4)) +
         frame(Http2Type::kGoAway, 0, 0, number(0, 4) + number(2, 4)));
  EXPECT_EQ(values(RuleBuffer::kHttp2Setting, 0), (Values{setting}));
  EXPECT_EQ(values(RuleBuffer::kHttp2Window, 0), (Values{number(77, 4)}));
  EXPECT_EQ(values(RuleBuffer::kHttp2ErrorCode, 0), (Values{number(2, 4)}));
  EXPECT_EQ(values(RuleBuffer::kHttpProtocol, 1), (Values{}));
  server(frame(Http2Type::kSettings, http2_flags::kAck, 0, ""));
  EXPECT_EQ(values(RuleBuffer::kHttpProtocol, 1), Values(4, "HTTP/2"));
}

TEST_F(Http2Flow, ValuesOfAStreamAreThoseOfItsFrames) {
  client(kBegin +
         frame(Http2Type::kHeaders, kWhole | http2_flags::kPriority, 1,
               number(0, 4) + "\x20" + "\x3f\xe1\x1f" + block({{":path", "/"}})) +
         frame(Http2Type::kResetStream, 0, 1, number(8, 4)));
  EXPECT_EQ(values(RuleBuffer::kHttp2Priority, 0), (Values{"\x20"}));
  EXPECT_EQ(values(RuleBuffer::kHttp2SizeUpdate, 0), (Values{number(4096, 4)}));
  EXPECT_EQ(values(RuleBuffer::kHttp2ErrorCode, 0), (Values{number(8, 4)}));
  EXPECT_EQ(values(RuleBuffer::kHttp2HeaderName, 0), (Values{":path"}));
}

TEST_F(Http2Flow, AnAuthorityThatIsNotTheHostIsTold) {
  client(kBegin + headers(1, {{":authority", "a"}, {"host", "b"}}, kWhole));
  EXPECT_EQ(values(RuleBuffer::kAppEvent, 0), (Values{"http2.authority_host_mismatch"}));
}

TEST_F(Http2Flow, AnInterimResponseIsNone) {
  client(kBegin + get(1, "/"));
  server(headers(1, {{":status", "100"}}) + headers(1, {{":status", "200"}}, kWhole));
  EXPECT_EQ(values(RuleBuffer::kHttpStatusCode, 1), (Values{"200"}));
}

TEST_F(Http2Flow, APromiseIsTheRequestOfAnotherStream) {
  client(kBegin + get(1, "/one"));
  server(frame(Http2Type::kPushPromise, http2_flags::kEndHeaders, 1,
               number(2, 4) + block({{":path", "/pushed"}})) +
         headers(2, {{":status", "200"}}) + data(2, "body"));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/one", "/pushed"}));
  EXPECT_EQ(values(RuleBuffer::kFileData, 1), (Values{"body"}));
}

TEST_F(Http2Flow, WhatCannotBeReadIsReported) {
  struct {
    const char* what;
    std::string bytes;
  } const cases[] = {
      {"a block that is none", frame(Http2Type::kHeaders, kWhole, 1, "\xff\xff\xff\xff\xff\xff")},
      {"a frame within a block", frame(Http2Type::kHeaders, 0, 1, "") + data(1, "a")},
      {"a block that goes on in another stream",
       frame(Http2Type::kHeaders, 0, 1, "") + frame(Http2Type::kContinuation, 4, 3, "")},
      {"nothing that goes on", frame(Http2Type::kContinuation, 4, 1, "")},
      {"headers of no stream", frame(Http2Type::kHeaders, kWhole, 0, "")},
  };
  for (const auto& [what, bytes] : cases) {
    SetUp();
    client(kBegin + bytes + get(5, "/behind"));
    EXPECT_TRUE(conversation_->session().is_broken(0)) << what;
    EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{})) << what;
  }
}

TEST_F(Http2Flow, FramesThatContinueABlockHaveAnEnd) {
  std::string flood = frame(Http2Type::kHeaders, 0, 1, "");
  for (std::uint32_t i = 0; i < Http2Parser::kBlockFramesMax; ++i) {
    flood += frame(Http2Type::kContinuation, 0, 1, "");
  }
  client(kBegin + flood);
  EXPECT_TRUE(conversation_->session().is_broken(0));
}

TEST_F(Http2Flow, StreamsAreBounded) {
  client(kBegin);
  for (std::uint32_t i = 0; i < Http2Parser::kStreamsMax; ++i) client(get(2 * i + 1, "/"));
  EXPECT_FALSE(conversation_->session().is_broken(0));
  client(get(2 * Http2Parser::kStreamsMax + 1, "/"));
  EXPECT_TRUE(conversation_->session().is_broken(0));
}

TEST_F(Http2Flow, StreamsThatAreResetMakeRoom) {
  client(kBegin);
  for (std::uint32_t i = 0; i < 3 * Http2Parser::kStreamsMax; ++i) {
    client(get(2 * i + 1, "/") + frame(Http2Type::kResetStream, 0, 2 * i + 1, number(8, 4)));
    server(headers(2 * i + 1, {{":status", "200"}}));  // on its way when it was reset
  }
  EXPECT_FALSE(conversation_->session().is_broken(0));
  EXPECT_LT(conversation_->session().held(), 64u << 10);
}

TEST_F(Http2Flow, ASessionThatIsLostComesToTheSame) {
  client(kBegin + get(1, "/one"));
  server(headers(1, {{":status", "200"}}, kWhole));
  conversation_->lose_session();
  client(get(3, "/two"));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/one", "/two"}));
  EXPECT_EQ(conversation_->session().settled(0), 0u);
}

const std::string kUpgrade =
    "GET /up HTTP/1.1\r\nHost: a.test\r\nUser-Agent: c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n";
const std::string kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";

TEST_F(Http2Flow, AnUpgradeIsTheFirstStream) {
  client(kUpgrade);
  server(kSwitch + headers(1, {{":status", "200"}}) + data(1, "body"));
  EXPECT_EQ(conversation_->session().protocol(), AppProtocol::kHttp2);
  client(kBegin + get(3, "/three"));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/up", "/up", "/three"}));
  EXPECT_EQ(values(RuleBuffer::kFileData, 1), (Values{"body"}));
}

TEST_F(Http2Flow, AnUpgradeBehindOtherRequestsIsReadAnew) {
  client("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
  server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  client(kUpgrade + kBegin + get(3, "/three"));  // before it knows
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/first", "/up"}));
  server(kSwitch);
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/first", "/up", "/up", "/three"}));
  conversation_->lose_session();
  client(get(5, "/five"));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/first", "/up", "/up", "/three", "/five"}));
}

TEST_F(Http2Flow, AnUpgradeThatTheServerDoesNotTakeIsNone) {
  client(kUpgrade + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(conversation_->session().protocol(), AppProtocol::kHttp);
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0), (Values{"/up", "/next"}));
}

TEST_F(Http2Flow, WhatConnectLeadsToIsRecognised) {
  client("CONNECT b.test:80 HTTP/1.1\r\nHost: b.test:80\r\n\r\n");
  server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  client(kBegin + get(1, "/inside"));
  EXPECT_EQ(conversation_->session().protocol(), AppProtocol::kHttp2);
  conversation_->lose_session();
  client(get(3, "/more"));
  EXPECT_EQ(values(RuleBuffer::kHttpUri, 0).back(), "/more");
}

}  // namespace
}  // namespace millrace
