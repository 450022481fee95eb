// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

std::string refusal_of_ids(const Settings& settings) {
  try {
    ids_settings(settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(IdsSettings, HaveDefaults) {
  const IdsSettings read = ids_settings({{"rules", "a.rules"}});
  EXPECT_EQ(read.room.streams, 32'768u);
  EXPECT_EQ(read.room.memory_mb, 256u);
  EXPECT_EQ(read.parser_mb, 256u);
  EXPECT_EQ(read.limits.history, 16u << 10);
  EXPECT_EQ(read.limits.window, 1u << 20);
  EXPECT_FALSE(read.limits.skips || read.limits.fast_open || read.only_watches || read.tells ||
               read.trusts_checksums);
  EXPECT_TRUE(read.drops() && read.fragments == FragmentUse::kAssemble);
}

TEST(IdsSettings, AreRead) {
  const IdsSettings read = ids_settings({{"rules", "a.rules"},
                                         {"variables", "HOME_NET=[10.0.0.0/8, !10.1.0.0/16]"},
                                         {"variables", "WEB=80"},
                                         {"classification", "/c"},
                                         {"thresholds", "/t"},
                                         {"mode", "ids"},
                                         {"events", "true"},
                                         {"streams", "5"},
                                         {"memory_mb", "6"},
                                         {"parser_mb", "12"},
                                         {"window_kb", "7"},
                                         {"depth_kb", "8"},
                                         {"history_kb", "9"},
                                         {"body_kb", "10"},
                                         {"alerts_max", "3"},
                                         {"inflate_layers", "3"},
                                         {"checksums", "trust"},
                                         {"fragments", "pass"}});
  ASSERT_EQ(read.variables.size(), 2u);
  EXPECT_EQ(read.variables[0].first, "HOME_NET");
  EXPECT_EQ(read.variables[0].second, "[10.0.0.0/8, !10.1.0.0/16]");
  EXPECT_EQ(read.classification, "/c");
  EXPECT_EQ(read.thresholds, "/t");
  EXPECT_TRUE(read.limits.fast_open && read.only_watches && read.tells && read.limits.skips &&
              read.trusts_checksums);
  EXPECT_FALSE(read.drops());
  EXPECT_EQ(read.fragments, FragmentUse::kPass);
  EXPECT_EQ(read.room.streams, 5u);
  EXPECT_EQ(read.room.memory_mb, 6u);
  EXPECT_EQ(read.parser_mb, 12u);
  EXPECT_EQ(read.limits.window, 7u << 10);
  EXPECT_EQ(read.limits.depth, 8u << 10);
  EXPECT_EQ(read.limits.history, 9u << 10);
  EXPECT_EQ(read.app.body_bytes, std::size_t{10} << 10);
  EXPECT_EQ(read.app.inflate_layers, 3u);
  EXPECT_EQ(read.alerts_max, 3u);
  EXPECT_FALSE(ids_settings({{"learn", "true"}}).drops());
  EXPECT_TRUE(ids_settings({{"learn", "false"}, {"mode", "ips"}}).drops());
}

TEST(IdsSettings, HaveAnOrderOfActions) {
  EXPECT_EQ(ids_settings({}).actions, kActionOrder);
  const ActionOrder actions = ids_settings({{"action_order", "alert"},
                                            {"action_order", "drop"},
                                            {"action_order", "pass"},
                                            {"action_order", "reject"}})
                                  .actions;
  EXPECT_EQ(actions, (ActionOrder{RuleAction::kAlert, RuleAction::kDrop, RuleAction::kPass,
                                  RuleAction::kReject}));
}

TEST(IdsSettings, SayWhatIsWrong) {
  EXPECT_EQ(refusal_of_ids({{"mode", "tap"}}), "mode: 'tap' is neither ips nor ids");
  EXPECT_EQ(refusal_of_ids({{"checksums", "no"}}), "checksums: 'no' is neither check nor trust");
  EXPECT_EQ(refusal_of_ids({{"action_order", "block"}}),
            "action_order: 'block' is none of pass, drop, reject, alert");
  EXPECT_EQ(refusal_of_ids({{"action_order", "drop"}, {"action_order", "drop"}}),
            "action_order: 'drop' stands there twice");
  EXPECT_EQ(refusal_of_ids({{"action_order", "drop"}}),
            "action_order: it names each of pass, drop, reject and alert");
  EXPECT_TRUE(ids_settings({}).drops_unread());
  EXPECT_FALSE(ids_settings({{"unreadable", "pass"}}).drops_unread());
  EXPECT_FALSE(ids_settings({{"unreadable", "drop"}, {"mode", "ids"}}).drops_unread());
  EXPECT_EQ(refusal_of_ids({{"fragments", "keep"}}),
            "fragments: 'keep' is none of assemble, drop, pass");
  EXPECT_EQ(ids_settings({{"fragments", "drop"}}).fragments, FragmentUse::kDrop);
  EXPECT_EQ(ids_settings({{"fragments", "assemble"}}).fragments, FragmentUse::kAssemble);
  EXPECT_EQ(refusal_of_ids({{"overlaps", "linux"}}),
            "overlaps is 'linux': of mode ids; in mode ips one version alone arrives");
  EXPECT_FALSE(ids_settings({{"overlaps", "linux"}, {"mode", "ids"}}).overlaps.is_empty());
  for (const char* variable : {"HOME_NET", "=1", "A=", "$A=1", "A B=1"}) {
    EXPECT_EQ(refusal_of_ids({{"variables", variable}}),
              "variables: '" + std::string(variable) + "' is not NAME=VALUE");
  }
  EXPECT_TRUE(refusal_of_ids({{"carry", "1"}}).starts_with("carry: ids has no such setting"));
}

TEST(IdsSettings, SayWhatIsToldOf) {
  const IdsSettings none = ids_settings({{"rules", "a.rules"}});
  EXPECT_FALSE(none.log.has_any() || none.app.keeps_messages);
  EXPECT_EQ(none.alert_payload, 0u);
  const IdsSettings read = ids_settings({{"rules", "a.rules"},
                                         {"log", "http"},
                                         {"log", "dns"},
                                         {"alert_app", "true"},
                                         {"alert_payload", "100"},
                                         {"alert_packet", "1514"}});
  EXPECT_TRUE(read.log.http && read.log.dns && read.log.has_apps() && read.app.keeps_messages);
  EXPECT_FALSE(read.log.tls || read.log.ssh || read.log.drop || read.log.anomaly);
  EXPECT_TRUE(read.alert_app);
  EXPECT_EQ(read.alert_payload, 100u);
  EXPECT_EQ(read.alert_packet, 1514u);
  const IdsSettings rest = ids_settings(
      {{"rules", "a.rules"}, {"log", "tls"}, {"log", "ssh"}, {"log", "drop"}, {"log", "anomaly"}});
  EXPECT_TRUE(rest.log.tls && rest.log.ssh && rest.log.drop && rest.log.anomaly);
  EXPECT_EQ(refusal_of_ids({{"rules", "a.rules"}, {"log", "smb"}}),
            "log: 'smb' is none of http, dns, tls, ssh, smtp, drop, anomaly");
}

}  // namespace
}  // namespace millrace
