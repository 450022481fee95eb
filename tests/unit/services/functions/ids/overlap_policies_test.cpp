// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/overlap_policies.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <algorithm>
#include <string>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"

namespace millrace {
namespace {

OverlapPolicy policy_of(const OverlapPolicies& policies, const char* receiver) {
  FlowTuple tuple{.protocol = 6, .version = 4};
  if (::inet_pton(AF_INET, receiver, tuple.destination.data()) != 1) {
    tuple.version = 6;
    EXPECT_EQ(::inet_pton(AF_INET6, receiver, tuple.destination.data()), 1);
  }
  const OverlapPolicy policy = policies.of(tuple, 0);
  EXPECT_EQ(policies.of(reversed(tuple), 1), policy);
  return policy;
}

std::string refusal_of_overlaps(const std::vector<std::string>& values) {
  OverlapPolicies policies;
  try {
    for (const std::string& value : values) policies.add(value);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OverlapPolicies, TheNarrowestPrefixCounts) {
  OverlapPolicies policies;
  EXPECT_TRUE(policies.is_empty());
  EXPECT_EQ(policy_of(policies, "10.1.2.3"), OverlapPolicy::kNone);
  for (const char* value : {"10.1.0.0/16=solaris", "10.0.0.0/8=windows", "10.1.2.3=last",
                            "10.1.2.0/24=vista", "2001:db8::/32=old-linux"}) {
    policies.add(value);
  }
  EXPECT_EQ(policy_of(policies, "10.9.2.3"), OverlapPolicy::kBsd);
  EXPECT_EQ(policy_of(policies, "10.1.9.3"), OverlapPolicy::kSolaris);
  EXPECT_EQ(policy_of(policies, "10.1.2.4"), OverlapPolicy::kFirst);
  EXPECT_EQ(policy_of(policies, "10.1.2.3"), OverlapPolicy::kLast);
  EXPECT_EQ(policy_of(policies, "11.1.2.3"), OverlapPolicy::kNone);
  EXPECT_EQ(policy_of(policies, "2001:db8::7"), OverlapPolicy::kOldLinux);
  EXPECT_EQ(policy_of(policies, "2001:db9::7"), OverlapPolicy::kNone);
  policies.add("linux");
  EXPECT_EQ(policy_of(policies, "11.1.2.3"), OverlapPolicy::kLinux);
  EXPECT_EQ(policy_of(policies, "2001:db9::7"), OverlapPolicy::kLinux);
  EXPECT_EQ(policy_of(policies, "10.1.2.4"), OverlapPolicy::kFirst);
}

TEST(OverlapPolicies, SayWhatIsWrong) {
  const std::string misspelt = refusal_of_overlaps({"10.0.0.0/8=linus"});
  EXPECT_TRUE(
      misspelt.starts_with("overlaps is '10.0.0.0/8=linus': no system 'linus'; there are: bsd, "));
  EXPECT_TRUE(misspelt.ends_with("did you mean 'linux'?"));
  for (const std::string prefix :
       {"", "any", "10.0.0.0/33", "10.0.0.0/8,11.0.0.0/8", "!10.0.0.1"}) {
    EXPECT_EQ(refusal_of_overlaps({prefix + "=linux"}),
              "overlaps is '" + prefix + "=linux': '" + prefix + "' is no address or network");
  }
  EXPECT_EQ(refusal_of_overlaps({"10.0.0.0/8=linux", "10.1.1.1/8=bsd"}),
            "overlaps is '10.1.1.1/8=bsd': these addresses have a system already");
  EXPECT_EQ(refusal_of_overlaps({"bsd", "first"}),
            "overlaps is 'first': these addresses have a system already");
  std::vector<std::string> many;
  for (int i = 0; i <= 256; ++i) {
    many.push_back("10.0." + std::to_string(i / 2) + "." + std::to_string(i % 2) + "=bsd");
  }
  EXPECT_EQ(refusal_of_overlaps(many),
            "overlaps is '10.0.128.0=bsd': there are more than 256 of them");
  many.back() = "linux";
  EXPECT_EQ(refusal_of_overlaps(many), "overlaps is 'linux': there are more than 256 of them");
  many.erase(many.begin());
  EXPECT_EQ(refusal_of_overlaps(many), "");
  std::ranges::reverse(many);
  EXPECT_EQ(refusal_of_overlaps(many), "") << "one for all hosts is one";
}

using OverlapPoliciesTest = IdsStage;

TEST_F(OverlapPoliciesTest, AreThoseOfTheReceiver) {
  use("alert tcp-stream any any -> any any (content:\"forbidden\"; sid:1;)\n",
      {{"mode", "ids"}, {"overlaps", "first"}, {"overlaps", "10.1.0.5=last"}});
  open();
  const auto say = [&](bool back, std::string_view first, std::string_view second) {
    const std::uint32_t at = back ? kServer : first_, other = back ? first_ : kServer;
    for (const std::string_view data : {first, second}) {
      send(segment(back, kAck, at + 3, other + 1, data));
    }
    send(segment(back, kAck, at + 1, other + 1, "a "));
  };
  say(false, "forgotten", "forbidden");
  EXPECT_EQ(hits(0), 0u);
  say(true, "forgotten", "forbidden");
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(hits(StreamCounter::kConflicts), 0u);
}

}  // namespace
}  // namespace millrace
