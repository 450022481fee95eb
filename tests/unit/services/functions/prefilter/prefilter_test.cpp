// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/prefilter/prefilter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "services/functions/match/match_gpu.hpp"
#include "shared/layout/payload_hint.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/packet_call.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

/// `prefilter` alone, in a stage of its own.
class Front {
 public:
  explicit Front(const std::string& rules, const Settings& more = {}) {
    plan_.settings = more;
    plan_.settings.emplace_back("rules", folder_.write("own.rules", rules));
    plan_.image = folder_.path("prefilter.image");
    hits.resize(prefilter_type().build({.function = plan_, .ports = {}}).counter_count);
    function_ = prefilter_type().make({.function = plan_, .ports = {}});
    runner = std::make_unique<StageRunner>(
        std::vector<StageFunction>{{.function = function_.get(), .counters = {hits}}});
  }
  std::uint64_t count(PrefilterCounter which) const {
    return hits[static_cast<std::size_t>(which)];
  }
  const PlanFunction& plan() const { return plan_; }

  std::vector<std::uint64_t> hits;
  std::unique_ptr<StageRunner> runner;

 private:
  const MatchFolder folder_;
  PlanFunction plan_{.name = "prefilter", .type = "prefilter"};
  std::unique_ptr<Function> function_;
};

Frame udp_packet(std::string_view text) {
  const auto bytes = static_cast<unsigned>(text.size());
  return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(text).build();
}
Frame tcp_packet(std::string_view text) { return segment(false, kAck, 1, 1, text); }

TEST(PrefilterFunction, SaysOfEachPacketWhetherItHoldsAFastPattern) {
  const Front front(
      "alert tcp any any -> any any (content:\"of-tcp\"; sid:1;)\n"
      "alert udp any any -> any any (content:\"of-udp\"; sid:2;)\n"
      "alert tcp any any -> any any (content:\"Any-Case\"; nocase; sid:3;)\n"
      "alert http any any -> any any (http.uri; content:\"of-uri\"; sid:4;)\n"
      "alert http any any -> any any (file.data; content:\"of-body\"; sid:5;)\n"
      "alert tcp any any -> any 80 (content:\"near\"; sid:6;)\n"
      "alert tcp any any -> any [25,110] (content:\"far\"; sid:7;)\n");
  BatchArena arena(kBatchCapacityMax);
  const Batch batch =
      batch_of(arena, std::vector<Frame>{tcp_packet("an of-tcp"), tcp_packet("of-udp of-uri of-tc"),
                                         tcp_packet("-aNY-cASE-"), tcp_packet("of-body"),
                                         tcp_packet(""), udp_packet("of-tcp"), udp_packet("of-udp"),
                                         frame_of_hex(kNineExtensionsUdpFrame), tcp_packet("near"),
                                         tcp_packet("far")});
  front.runner->run(batch, {});
  const std::uint32_t literals = batch.header->hint_literals;
  std::string clean;
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    clean += is_hinted_clean(*batch.header, i, literals) ? 'c' : '-';
    EXPECT_TRUE(batch.goes_on(i));
  }
  EXPECT_EQ(clean, "-c--cc---c");
  EXPECT_EQ(front.count(PrefilterCounter::kClean), 4u);
  EXPECT_EQ(front.count(PrefilterCounter::kHit), 5u);
  EXPECT_EQ(front.count(PrefilterCounter::kHidden), 1u);
}

TEST(PrefilterFunction, OfAPacketThatIsNotSelectedItSaysNothing) {
  const Front front("alert tcp any any -> any any (content:\"word\"; sid:1;)\n");
  BatchArena arena(kBatchCapacityMax);
  const Batch batch = batch_of(arena, std::vector<Frame>{tcp_packet("one"), tcp_packet("other")});
  batch.drop(0, Reason::kOverload);
  front.runner->run(batch, {});
  EXPECT_FALSE(is_hinted_clean(*batch.header, 0, batch.header->hint_literals));
  EXPECT_TRUE(is_hinted_clean(*batch.header, 1, batch.header->hint_literals));
}

TEST(PrefilterFunction, ItsTableOnAGpuIsTheOneOfMatchAndEndsNoPacket) {
  const Front front("drop tcp any any -> any any (content:\"word\"; sid:1;)\n");
  FakeDeviceMemory memory;
  const DeviceTable table = prefilter_type().upload(front.plan(), memory);
  EXPECT_EQ(table.kind, DeviceKind::kMatch);
  const LiteralCounts& counts = view_in<MatchGpuTable>(table).index.counts;
  EXPECT_EQ(counts.rules, 1u);
  EXPECT_EQ(counts.drop_rules, 0u);
}

TEST(PrefilterFunction, RefusesSettingsThatAreNotItsOwn) {
  const auto error_of_setting = [](const std::string& key, const std::string& value) {
    const PlanFunction plan{.name = "p", .type = "prefilter", .settings = {{key, value}}};
    return test::error_of([&] { prefilter_type().check(plan); });
  };
  EXPECT_NE(error_of_setting("mode", "ids").find("mode"), std::string::npos);
  EXPECT_NE(error_of_setting("variables", "HOME_NET").find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(error_of_setting("variables", "HOME_NET=any").find("rules"), std::string::npos);
}

constexpr char kRulesOfBoth[] =
    "alert tcp any any -> any any (content:\"needle\"; sid:1;)\n"
    "alert tcp any any -> any any (content:\"NeEdle in\"; nocase; content:\"stack\"; distance:1; "
    "sid:2;)\n"
    "alert tcp any any -> any any (content:\"needle\"; depth:9; sid:3;)\n"
    "alert tcp-pkt any any -> any any (content:\"ee\"; sid:4;)\n"
    "alert http any any -> any any (file.data; content:\"thread\"; content:\"end\"; distance:1; "
    "sid:5;)\n"
    "alert http any any -> any any (http.uri; content:\"/page\"; sid:6;)\n"
    "alert http any any -> any any (http.request_body; content:\"needle\"; sid:7;)\n"
    "alert udp any any -> any any (content:\"needle\"; sid:8;)\n"
    "alert tcp any any -> any any (pcre:\"/st[a-c]ck/\"; sid:9;)\n"
    "drop tcp any any -> any any (content:\"for|20|bid|20|den\"; sid:10;)\n";
constexpr std::size_t kRuleCount = 10;

/// A stage of its own beside another one.
struct Side : IdsStage {
  Side() { use(kRulesOfBoth); }
  void TestBody() override {}
  using IdsStage::client, IdsStage::server, IdsStage::open, IdsStage::start, IdsStage::hits_,
      IdsStage::hits, IdsStage::send, IdsStage::sent_, IdsStage::kPasses, IdsStage::front_,
      IdsStage::first_, IdsStage::kServer;
  std::vector<std::uint64_t> of_rules() const {
    return {hits_.begin(), hits_.begin() + kRuleCount};
  }
};

template <typename Text>
std::string some_of(std::mt19937& random, std::initializer_list<Text> texts) {
  return *(texts.begin() + random() % texts.size());
}

std::string words(std::mt19937& random) {
  std::string text;
  while (random() % 6 != 0) {
    text += some_of(random, {"needle", "NEEDLE IN", "need", "le in", " stack ", "thread", "thr",
                             "ead", "end ", "for bid", " den", " and so on, and on, and on; "});
  }
  return text;
}

std::string talk_of(std::mt19937& random, bool back) {
  const std::string body = words(random);
  if (random() % 4 == 0) return body + "\r\n\r\n";
  const std::string head = back ? "HTTP/1.1 200 OK\r\n"
                                : some_of(random, {"POST /page", "POST /other"}) + " HTTP/1.1\r\n";
  if (random() % 4 != 0) {
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += 5) {
    const std::string chunk = body.substr(at, 5);
    chunks += std::to_string(chunk.size()) + "\r\n" + chunk + "\r\n";
  }
  return head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
}

/// The pieces of a text, each at its place. Some come later than what is behind them, some twice,
/// some together with what has come before.
std::vector<std::pair<std::size_t, std::string>> segments_of(std::mt19937& random,
                                                             const std::string& text) {
  std::vector<std::pair<std::size_t, std::string>> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = 1 + random() % 40;
    const std::size_t again = std::min<std::size_t>(at, random() % 3 == 0 ? random() % 12 : 0);
    pieces.emplace_back(at - again, text.substr(at - again, bytes + again));
    at += bytes;
    if (random() % 5 == 0) pieces.push_back(pieces.back());
  }
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (random() % 5 == 0) std::swap(pieces[i - 1], pieces[i]);
  }
  return pieces;
}

/// The same packets through both. False: the flow has been dropped.
bool say_alike(std::mt19937& random, Side& plain, Side& hinted, std::uint16_t port, bool back) {
  const std::string text = talk_of(random, back);
  const std::size_t own = back ? 1 : 0;
  const std::array<std::uint32_t, 2> first{plain.first_ + 1, Side::kServer + 1};
  for (const auto& [at, piece] : segments_of(random, text)) {
    if (random() % 8 == 0) {
      plain.start();
      hinted.start();
    }
    const Frame frame =
        segment(back, kAck, first[own] + plain.sent_[own] + static_cast<std::uint32_t>(at),
                first[1 - own] + plain.sent_[1 - own], piece, port);
    const int fate = plain.send(frame);
    EXPECT_EQ(hinted.send(frame), fate) << piece;
    EXPECT_EQ(hinted.of_rules(), plain.of_rules()) << piece;
    if (fate != Side::kPasses || testing::Test::HasFailure()) return false;
  }
  plain.sent_[own] += static_cast<std::uint32_t>(text.size());
  return true;
}

TEST(PrefilterFunction, WithItInFrontAnIdsSaysTheSame) {
  std::vector<std::uint64_t> seen(kRuleCount);
  std::uint64_t clean = 0;
  for (std::uint32_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Front front(kRulesOfBoth);
    Side plain, hinted;
    hinted.front_ = front.runner.get();
    for (std::uint16_t port = 40'000; port < 40'006; ++port) {
      plain.open(port);
      hinted.open(port);
      for (int turn = 0; turn < 6; ++turn) {
        if (!say_alike(random, plain, hinted, port, turn % 2 == 1)) break;
      }
      const Frame datagram = udp_packet(words(random));
      EXPECT_EQ(hinted.send(datagram), plain.send(datagram));
      EXPECT_EQ(hinted.of_rules(), plain.of_rules());
    }
    EXPECT_EQ(plain.hits(IdsCounter::kClean), 0u);
    clean += hinted.hits(IdsCounter::kClean);
    for (std::size_t rule = 0; rule < kRuleCount; ++rule) seen[rule] += plain.hits(rule);
  }
  EXPECT_GT(clean, 100u);
  for (const std::uint64_t hits : seen) EXPECT_GT(hits, 0u);
}

TEST(PrefilterFunction, AHintOfOtherRulesIsNotBelieved) {
  const Front front("alert tcp any any -> any any (content:\"something else\"; sid:1;)\n");
  Side plain, hinted;
  hinted.front_ = front.runner.get();
  hinted.open();
  EXPECT_NE(hinted.client("for bid den"), Side::kPasses);
  EXPECT_EQ(front.count(PrefilterCounter::kHit), 0u);
  EXPECT_EQ(hinted.hits(IdsCounter::kClean), 0u);
}

TEST(PrefilterFunction, BytesThatChangeBehindItEndTheHint) {
  struct Changes final : Function {
    void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
    void finish(const FinishContext&) noexcept override {}
  } changes;
  const Front front("alert tcp any any -> any any (content:\"word\"; sid:1;)\n");
  for (const Rewrites rewrites : {Rewrites::kNone, Rewrites::kHeaders, Rewrites::kAll}) {
    BatchArena arena(kBatchCapacityMax);
    const Batch batch = batch_of(arena, std::vector<Frame>{tcp_packet("clean")});
    front.runner->run(batch, {});
    StageRunner behind({{.function = &changes, .rewrites = rewrites}});
    behind.run(batch, {});
    EXPECT_EQ(is_hinted_clean(*batch.header, 0, batch.header->hint_literals),
              rewrites != Rewrites::kAll);
  }
}

}  // namespace
}  // namespace millrace
