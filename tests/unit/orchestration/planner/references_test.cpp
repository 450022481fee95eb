// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/classes.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

TEST(References, RefusesNamesThatNobodyHas) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: [a, bb], to: c, run: [x]}}\nfunctions: {xy: "
                             "{type: plain, on: claassifier}}\n")),
            "3:23: found 'bb' as port; allowed: a, b\n"
            "3:32: found 'c' as port; allowed: a, b\n"
            "3:41: found 'x' as function; allowed: xy; did you mean 'xy'?\n"
            "4:35: found 'claassifier' as group; allowed: classifier; did you mean 'classifier'?");
}

TEST(References, RefusesAPortBehindAPathThatTakesAllOfIt) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}, q: {from: [b, a]}}\n")),
            "3:37: found port 'a' behind path 'p', which takes every packet of it; allowed: a port "
            "once, or a 'match' in all of its paths but the last");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, match: udp}, q: {from: a}, r: {from: b}}\n")),
            "");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: [a, a]}}\n")),
            "3:23: found port 'a' a second time; allowed: once in a path");
}

TEST(References, RefusesPortsThatCannotDoWhatIsAsked) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: pcap, out: x}, b: {device: pcap, in: y}}\n"
                  "paths: {p: {from: a, to: b}}\n"),
            "3:19: found port 'a', which cannot receive; allowed: a port that can receive\n"
            "3:26: found port 'b', which cannot send; allowed: a port that can send");
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: generate}}\npaths: {p: {from: a}}\n"),
            "3:9: found port 'a', which cannot send, as target of 'p'; allowed: 'to' with a port "
            "that can send");
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: generate}, b: {device: replay, file: x}}\n"
                  "paths: {p: {from: a, to: b}}\n"),
            "3:26: found port 'b', which cannot send; allowed: a port that can send");
}

TEST(References, AsksForATargetWhenThereAreMoreThanTwoPorts) {
  constexpr const char* kPorts =
      "millrace: 1\nports: {a: {device: null}, b: {device: null}, c: {device: null}}\n";
  EXPECT_EQ(wrong(std::string(kPorts) + "paths: {p: {from: [a, b]}}\n"),
            "3:9: found no 'to' in 'p' with 3 ports; allowed: a, b, c");
  EXPECT_EQ(wrong(std::string(kPorts) + "paths: {p: {from: [a, b], to: c}}\n"), "");
}

/// `on` for a function on gpu group g, or on classifier group c or d.
std::string shared(const std::string& on, const std::string& keys = "",
                   const std::string& more = "") {
  return with_ports("paths: {p: {from: a}}\nworkers: {g: {kind: gpu" + keys +
                    "}, c: {kind: classifier}, d: {kind: classifier}}\n"
                    "functions:\n  m: {type: match, rules: x, on: " +
                    on + "}\n" + more);
}

TEST(References, AGpuGroupSharesItsWorkWithOneClassifierGroup) {
  EXPECT_EQ(wrong(shared("[g, d]", ", offload: 80, spill: 16")), "");
  EXPECT_EQ(wrong(shared("[g, e]")), "6:38: found 'e' as group; allowed: g, c, d");
  EXPECT_EQ(wrong(shared("[d, g]")),
            "6:35: found '[d, g]'; allowed: first a gpu group, then a classifier group");
  EXPECT_EQ(wrong(shared("g", ", spill: 16")),
            "4:33: found 'spill' of group 'g', which shares its work with none; allowed: a "
            "function with 'on: [g, CLASSIFIER GROUP]'");
  EXPECT_EQ(wrong(shared("[g, c]", "", "  n: {type: match, rules: x, on: g}\n")),
            "7:34: found 'g' beside [g, c] of 'm'; allowed: the same groups for all functions of a "
            "gpu group");
}

TEST(References, RefusesFunctionsWhereTheyCannotRun) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nfunctions: {f: {type: plain, on: gpu}}\n")),
            "4:34: found gpu group 'gpu' for type 'plain', which has no GPU version; allowed: a "
            "classifier group");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nworkers: {g: {kind: classifier}}\nfunctions: "
                             "{f: {type: record, on: g}}\n")),
            "5:35: found group 'g' with 'dispatch: any' for type 'record', which keeps state; "
            "allowed: a group with 'dispatch: flow'");
}

TEST(References, RefusesAFunctionTwiceInAPath) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, run: [f, f]}}\nfunctions: {f: {type: "
                             "plain}}\n")),
            "3:31: found 'f' a second time; allowed: once in a path");
}

TEST(References, RefusesMoreThanEightFunctionsInARow) {
  std::string functions = "functions:\n";
  std::string run;
  for (int i = 0; i < 9; ++i) {
    functions += "  f" + std::to_string(i) + ": {type: plain}\n";
    run += (i == 0 ? "f" : ", f") + std::to_string(i);
  }
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, run: [" + run + "]}}\n" + functions)),
            "3:60: found 9 functions in a row on group 'classifier'; allowed: at most 8");
}

TEST(References, RefusesClassesThatNobodySets) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nfunctions: {f: {type: plain, classes: [hot, "
                             "cold]}, g: {type: plain, when: class hott}}\n")),
            "4:76: found class 'hott', which no function sets; allowed: hot, cold; did you mean "
            "'hot'?");
}

TEST(References, RefusesAConditionBeforeWhatMeetsIt) {
  const std::string functions =
      "functions: {f: {type: plain, classes: hot}, g: {type: plain, when: class hot}}\n";
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, run: [g, f]}}\n" + functions)),
            "3:28: found 'g' before any function that sets class 'hot'; allowed: behind that "
            "function");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, run: [f, g]}}\n" + functions)), "");
}

TEST(References, RefusesClassesInAnotherOrderThanBefore) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nfunctions: {f: {type: plain, classes: [x, "
                             "y]}, g: {type: plain, classes: [y, x]}}\n")),
            "4:78: found class 'x' behind one that follows it; allowed: each class once, in the "
            "same order in all functions");
}

TEST(Classes, AreNumberedByTheirFirstAppearance) {
  const Topology topology =
      parse(with_ports("paths: {p: {from: a}}\nfunctions: {f: {type: plain, classes: [x, y]}, g: "
                       "{type: plain, classes: [y, z]}}\n"));
  EXPECT_EQ(classes_of(topology), (std::vector<std::string>{"x", "y", "z"}));
}

TEST(Reasons, OfAllFunctionsAreAtMostAsManyAsThereAreNumbers) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 30; ++i) names.push_back("r" + std::to_string(i));
  std::vector<DeclaredReason> declared;
  for (const std::string& name : names) declared.push_back({name, ReasonCause::kPacket, ""});
  const std::span<const DeclaredReason> all(declared);
  const std::vector<KnownFunction> known = {
      {.type = "most", .reasons = all.first(kDeclaredReasonCountMax)},
      {.type = "same", .reasons = all.first(3)},
      {.type = "more", .reasons = all.last(3)}};
  const auto plan = [&](const std::string& functions) -> std::string {
    try {
      const std::string text =
          with_ports("paths: {p: {from: a}}\nfunctions: {" + functions + "}\n");
      return std::to_string(make_plan(parse_topology(text, "t", known), known, {}).reasons.size());
    } catch (const TopologyError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(plan("a: {type: most}, b: {type: same}"), "28");
  EXPECT_EQ(plan("a: {type: more}, b: {type: same}"), "6");
  EXPECT_EQ(plan("a: {type: most}, b: {type: same}, c: {type: more}, d: {type: more}"),
            "t:4:47: found 30 drop reasons of functions, with those of 'c'; allowed: at most 28 "
            "different ones");
}

TEST(Classes, AreAtMostThirtyTwo) {
  std::string names;
  for (int i = 0; i < 33; ++i) names += "c" + std::to_string(i) + ",";
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nfunctions: {f: {type: plain, classes: [" +
                             names + "]}}\n")),
            "4:13: found 33 classes; allowed: at most 32");
}

TEST(References, APortFollowsAnotherInterface) {
  const auto follows = [](const std::string& name) {
    return wrong("millrace: 1\nports:\n  a: {device: afpacket, interface: x, follow: " + name +
                 "}\n  b: {device: afxdp, interface: y}\n  c: {device: null}\n  d: {device: tap, "
                 "interface: z}\npaths: {p: {from: a, to: b}}\n");
  };
  EXPECT_EQ(follows("b"), "");
  for (const char* name : {"a", "c", "d"}) {
    EXPECT_EQ(follows(name),
              "3:47: found port '" + std::string(name) +
                  "' to follow; allowed: another port with an interface of the kernel");
  }
  EXPECT_EQ(follows("e"), "3:47: found 'e' as port; allowed: a, b, c, d");
}

}  // namespace
}  // namespace millrace
