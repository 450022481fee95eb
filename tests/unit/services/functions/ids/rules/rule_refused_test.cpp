// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleRefused, KeywordsThatAreNotSupportedHaveReasons) {
  for (const char* keyword :
       {"hostbits",  "flowint",    "lua",         "luajit",       "geoip",         "iprep",
        "filestore", "filemagic",  "stream_size", "decode-event", "engine-event",  "stream-event",
        "ssl_state", "sd_pattern", "dce_iface",   "dce_opnum",    "dce_stub_data", "ber_data",
        "ber_skip",  "sip_method", "file_type",   "ftpbounce",    "ipopts",        "replace"}) {
    EXPECT_NE(reason_of_refusal(keyword), "") << keyword;
    EXPECT_EQ(refusal_of(std::string(keyword) + ":a;"),
              std::string(keyword) + ": " + std::string(reason_of_refusal(keyword)));
  }
  EXPECT_EQ(reason_of_refusal("content"), "");
}

}  // namespace
}  // namespace millrace
