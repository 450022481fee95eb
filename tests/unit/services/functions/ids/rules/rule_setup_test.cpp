// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/functions/ids/rules/rule_addresses.hpp"
#include "services/functions/ids/rules/rule_set.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/rules/rule_folder.hpp"

namespace millrace {
namespace {

TEST(RuleSetups, HaveVariablesThatCanAllBeRead) {
  const RuleSetup setup = default_rule_setup();
  for (const auto& [name, value] : setup.variables) {
    if (name.find("PORTS") != std::string::npos) {
      EXPECT_FALSE(read_rule_ports("$" + name, setup.variables).is_any) << name;
    } else {
      EXPECT_FALSE(read_rule_addresses("$" + name, setup.variables).is_any) << name;
    }
  }
  EXPECT_EQ(setup.classes.at("trojan-activity").first, 1);
  EXPECT_EQ(setup.classes.at("tcp-connection").first, 4);
}

TEST(RuleSetups, TakeClassesFromAFile) {
  const RuleFolder folder;
  RuleSetup setup = default_rule_setup();
  load_classification(folder.write("a",
                                   "# x\n\nconfig classification: mine, My own, 7\r\n"
                                   "config classification: unknown,Other,2\n"),
                      setup);
  EXPECT_EQ(setup.classes.at("mine"), (std::pair<std::uint8_t, std::string>(7, "My own")));
  EXPECT_EQ(setup.classes.at("unknown").first, 2);
}

TEST(RuleSetups, RefuseLinesThatAreNoClass) {
  const RuleFolder folder;
  RuleSetup setup;
  for (const char* line : {"classification: a,b,1", "config classification: a,1",
                           "config classification: ,b,1", "config classification: a,b,0",
                           "config classification: a,b,256", "config classification: a,b,"}) {
    const std::string path = folder.write("a", "\n" + std::string(line) + "\n");
    try {
      load_classification(path, setup);
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ":2: ")) << error.what();
    }
  }
  EXPECT_THROW(load_classification(folder.path("none"), setup), Error);
}

}  // namespace
}  // namespace millrace
