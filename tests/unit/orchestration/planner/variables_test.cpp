// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/variables.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/config_files.hpp"

namespace millrace {
namespace {

/// A topology with these variables and one port.
std::string with(const std::string& vars, const std::string& port) {
  return "millrace: 1\nvars: " + vars + "\nports:\n  a:\n    device: generate\n    " + port +
         "\n  b: {device: null}\npaths: {p: {from: a, to: b}}\n";
}

std::string setting(const Texts& texts) {
  return parse_files(texts).ports[0].settings.at(0).value.value;
}

TEST(Variables, StandForTheirValuesInTextNumbersAndLists) {
  EXPECT_EQ(setting({{"t.yaml", with("{n: 5}", "flows: ${n}")}}), "5");
  EXPECT_EQ(setting({{"t.yaml", with("{n: 5}", "flows: 1${n}${n}")}}), "155");
  EXPECT_EQ(setting({{"t.yaml", with("{n: '5'}", "size: [\"6${n}\", 70]")}}), "65");
  EXPECT_EQ(setting({{"t.yaml", with("{n: yes}", "destinations: x${n}y")}}), "xyesy");
  const Topology topology =
      parse_files({{"t.yaml",
                    "millrace: 1\nvars: {kind: null, to: a}\nports: {a: {device: '${kind}'}}\n"
                    "paths: {p: {from: '${to}'}}\n"}});
  EXPECT_EQ(topology.ports[0].device.value, "null");
}

TEST(Variables, HaveDefaultsAndAnEscape) {
  EXPECT_EQ(setting({{"t.yaml", with("{n: 5}", "flows: ${n:-7}")}}), "5");
  EXPECT_EQ(setting({{"t.yaml", with("{}", "flows: ${n:-7}")}}), "7");
  EXPECT_EQ(setting({{"t.yaml", with("{n: 5}", "destinations: a$${n}${n}$")}}), "a${n}5$");
}

TEST(Variables, MayUseEachOtherInAnyOrderAndFile) {
  EXPECT_EQ(setting({{"t.yaml", with("{a: '${b}0', b: '${c:-1}'}", "flows: ${a}")}}), "10");
  EXPECT_EQ(setting({{"t.yaml", "include: x.yaml\n" + with("{n: 5}", "flows: ${m}")},
                     {"x.yaml", "vars: {m: '${n}1'}\n"}}),
            "51");
}

TEST(Variables, ComeFromTheEnvironmentOnlyWhenAsked) {
  ::setenv("MILLRACE_TEST_FLOWS", "12", 1);
  EXPECT_EQ(setting({{"t.yaml", with("{}", "flows: ${env:MILLRACE_TEST_FLOWS}")}}), "12");
  EXPECT_EQ(setting({{"t.yaml", with("{}", "flows: ${env:MILLRACE_TEST_NONE:-3}")}}), "3");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "flows: ${MILLRACE_TEST_FLOWS}")}}),
            "t.yaml:6:12: found variable 'MILLRACE_TEST_FLOWS', which 'vars' does not have; "
            "allowed: '${MILLRACE_TEST_FLOWS:-DEFAULT}', or a section 'vars'");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "flows: ${env:MILLRACE_TEST_FLOW}")}}),
            "t.yaml:6:12: found environment variable 'MILLRACE_TEST_FLOW', which is not set; "
            "allowed: one that is set, or '${env:MILLRACE_TEST_FLOW:-DEFAULT}'; did you mean "
            "'MILLRACE_TEST_FLOWS'?");
}

TEST(Variables, AreRefusedAtTheirPlaceInTheScalar) {
  EXPECT_EQ(wrong_files({{"t.yaml", with("{lan: 1, wan: 2}", "destinations: 'x ${lam} y'")}}),
            "t.yaml:6:22: found variable 'lam', which 'vars' does not have; allowed: lan, wan; did "
            "you mean 'lan'?");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "destinations: ${lan")}}),
            "t.yaml:6:19: found '${lan' without '}'; allowed: ${NAME}, ${NAME:-DEFAULT}, "
            "${env:NAME}, ${file:PATH}");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "destinations: ${a b}")}}),
            "t.yaml:6:19: found '${a b}'; allowed: ${NAME}, ${NAME:-DEFAULT}, ${env:NAME}, "
            "${file:PATH}; '$${' for '${' itself");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{b: 1}", "destinations: '${a:-${b}}'")}}),
            "t.yaml:6:20: found '${' inside of '${a:-${b}'; allowed: a variable of 'vars' for it: "
            "one does not stand inside of another");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "destinations: '${n:-}'")}}),
            "t.yaml:6:19: found nothing by '${n:-}' as 'destinations'; allowed: text");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{n: many}", "flows: ${n}")}}),
            "t.yaml:6:12: found 'many' by '${n}' as 'flows'; allowed: a whole number from 1 to "
            "1000000");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "${n}: 1")}}),
            "t.yaml:6:5: found '${n}' as 'a key'; allowed: text without '${' as a key");
}

TEST(Variables, DoNotGrowWithoutEnd) {
  std::string vars = "{v0: aaaaaaaaaaaaaaaa";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "${v" + std::to_string(i - 1) + "}";
    vars += ", v" + std::to_string(i) + ": '" + before + before + "'";
  }
  EXPECT_NE(wrong_files({{"t.yaml", with(vars + "}", "destinations: ${v39}")}})
                .find("found more than 65536 bytes with all variables"),
            std::string::npos);
}

TEST(Variables, ThatAreWrongThemselvesAreToldOnce) {
  EXPECT_EQ(wrong_files({{"t.yaml", with("{a: '${b}', b: '${a}'}", "flows: ${a}")}}),
            "t.yaml:2:23: found variable 'a', which needs itself; allowed: variables that need "
            "others only");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{a: [1]}", "flows: ${a}")}}),
            "t.yaml:2:11: found a list as 'a'; allowed: text or a number");
  EXPECT_EQ(wrong_files({{"t.yaml", with("{a b: 1}", "flows: 1")}}),
            "t.yaml:2:8: found 'a b' as variable; allowed: a letter, then letters, digits, '-' and "
            "'_', at most 24 in all");
}

TEST(Secrets, BecomeSettingsAndAreNeverShown) {
  const Texts texts = {{"t.yaml", with("{pw: 'user:${file:pw.txt}'}", "destinations: ${pw}")},
                       {"pw.txt", "k3y of two words\n"}};
  EXPECT_EQ(setting(texts), "user:k3y of two words");
  const Plan plan = make_plan(parse_files(texts), test_functions(), {});
  for (const std::string& text : {plan_text(plan), plan_json(plan), plan_mermaid(plan)}) {
    EXPECT_EQ(text.find("k3y"), std::string::npos) << text;
  }
  EXPECT_NE(plan_text(plan).find("destinations=(secret)"), std::string::npos);
  EXPECT_NE(plan_json(plan).find("\"destinations\": \"(secret)\""), std::string::npos);
}

TEST(Secrets, AreRefusedWhereTheyWouldBeSeen) {
  const std::string secret = "k3y";
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "flows: ${file:pw}")}, {"pw", secret}}),
            "t.yaml:6:12: found a value from a file as 'flows'; allowed: a whole number from 1 to "
            "1000000, not secret");
  EXPECT_EQ(
      wrong_files({{"t.yaml", "name: ${file:pw}\n" + with("{}", "flows: 1")}, {"pw", secret}}),
      "t.yaml:1:7: found a value from a file as 'name'; allowed: text, not secret");
}

TEST(Secrets, ComeFromFilesOfOneLine) {
  const auto refused = [](const std::string& content) {
    return wrong_files({{"t.yaml", with("{}", "destinations: ${file:pw}")}, {"pw", content}});
  };
  const std::string end = "; allowed: a file of one line that others cannot read";
  EXPECT_EQ(refused("a\nb\n"), "t.yaml:6:19: found file 'pw' (it has more than one line)" + end);
  EXPECT_EQ(refused("\n"), "t.yaml:6:19: found file 'pw' (it is empty)" + end);
  EXPECT_EQ(wrong_files({{"t.yaml", with("{}", "destinations: ${file:pw}")}}),
            "t.yaml:6:19: found file 'pw' (it is not there)" + end);
}

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() {
    char pattern[] = "/tmp/millrace-config-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  ~ConfigFile() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text, mode_t mode) {
    std::ofstream(folder_ / "f") << text;
    ::chmod((folder_ / "f").c_str(), mode);
    return folder_ / "f";
  }
  std::string refused(const std::filesystem::path& path, bool secret) {
    try {
      read_config_file(path, 8, secret);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(ConfigFile, OfASecretMayNotBeReadByOthers) {
  EXPECT_EQ(read_config_file(write("secret", 0600), 8, true), "secret");
  EXPECT_EQ(read_config_file(write("secret", 0640), 8, true), "secret");
  const std::string path = write("secret", 0644);
  EXPECT_EQ(refused(path, true), "others can read it: chmod o= " + path);
  EXPECT_EQ(refused(path, false), "");
}

TEST_F(ConfigFile, HasNoByteOrderMark) {
  EXPECT_EQ(read_config_file(write("\xef\xbb\xbf"
                                   "abc",
                                   0600),
                             8, true),
            "abc");
  EXPECT_EQ(read_config_file(write("a\xef\xbb\xbf", 0600), 8, true), "a\xef\xbb\xbf");
}

TEST_F(ConfigFile, IsAFileAndNotTooLarge) {
  EXPECT_EQ(refused(write("123456789", 0600), false), "it has more than 8 bytes");
  EXPECT_EQ(refused(folder_, false), "it is no file");
  EXPECT_EQ(refused(folder_ / "none", false), "read it: No such file or directory");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refused(folder_ / "pipe", false), "it is no file");
}

}  // namespace
}  // namespace millrace
