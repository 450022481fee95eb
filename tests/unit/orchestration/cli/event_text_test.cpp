// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_text.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(EventText, AnAlert) {
  EXPECT_EQ(text_of_event(R"({"timestamp":"2026-11-25T12:00:00.123456+0000","event_type":"alert",)"
                          R"("in_iface":"lan","src_ip":"10.1.0.5","src_port":5000,)"
                          R"("dest_ip":"192.0.2.9","dest_port":53,"proto":"UDP",)"
                          R"("alert":{"action":"blocked","signature":"a rule"},)"
                          R"("millrace":{"function":"scan"}})"),
            "2026-11-25T12:00:00.123456+0000 alert scan: \"a rule\" blocked  "
            "UDP 10.1.0.5:5000 > 192.0.2.9:53  from lan");
}

TEST(EventText, AnAnomalyWithoutPorts) {
  EXPECT_EQ(text_of_event(R"({"timestamp":"T","event_type":"anomaly","src_ip":"2001:db8::1",)"
                          R"("dest_ip":"ff02::1","proto":"IPv6-ICMP",)"
                          R"("anomaly":{"event":"address_conflict","mac":"02:00:00:00:00:01"},)"
                          R"("millrace":{"function":"route"}})"),
            "T anomaly route: address_conflict by 02:00:00:00:00:01  "
            "IPv6-ICMP 2001:db8::1 > ff02::1");
}

TEST(EventText, PortsOfIpv6StandBehindBrackets) {
  EXPECT_EQ(text_of_event(R"({"timestamp":"T","event_type":"alert","src_ip":"::1","src_port":1,)"
                          R"("dest_ip":"::2","dest_port":2,"proto":"TCP",)"
                          R"("millrace":{"function":7}})"),
            "T alert 7:  TCP [::1]:1 > [::2]:2");
}

TEST(EventText, AFlowAndATranslation) {
  EXPECT_EQ(text_of_event(R"({"timestamp":"T","event_type":"flow","src_ip":"10.0.0.1",)"
                          R"("src_port":1,"dest_ip":"10.0.0.2","dest_port":2,"proto":"TCP",)"
                          R"("flow":{"pkts_toserver":3,"pkts_toclient":4,"bytes_toserver":5,)"
                          R"("bytes_toclient":6,"age":7,"state":"closed","reason":"timeout"},)"
                          R"("millrace":{"function":"flow"}})"),
            "T flow flow:  TCP 10.0.0.1:1 > 10.0.0.2:2  "
            "closed (timeout) after 7 s, packets 3/4, bytes 5/6");
  EXPECT_EQ(text_of_event(R"({"timestamp":"T","event_type":"nat","src_ip":"10.0.0.1",)"
                          R"("src_port":1,"proto":"UDP","nat":{"action":"created",)"
                          R"("src_ip":"192.0.2.1","src_port":9},"millrace":{"function":"nat"}})"),
            "T nat nat: created  UDP 10.0.0.1:1  as 192.0.2.1:9");
}

TEST(EventText, TransactionsAndDrops) {
  const auto text_of = [](const std::string& type, const std::string& own) {
    return text_of_event(R"({"timestamp":"T","event_type":")" + type + R"(",)" + own +
                         R"(,"millrace":{"function":"ids"}})");
  };
  EXPECT_EQ(text_of("http", R"("http":{"hostname":"a.test","url":"/p","http_method":"GET",)"
                            R"("status":200})"),
            "T http ids: GET a.test /p 200");
  EXPECT_EQ(text_of("dns", R"("dns":{"type":"answer","rrname":"a.test","rrtype":"A",)"
                           R"("rcode":"NOERROR"})"),
            "T dns ids: answer A a.test NOERROR");
  EXPECT_EQ(text_of("tls", R"("tls":{"sni":"a.test"})"), "T tls ids: a.test");
  EXPECT_EQ(text_of("ssh", R"("ssh":{"client":{"software_version":"one"},)"
                           R"("server":{"software_version":"two"}})"),
            "T ssh ids: one two");
  EXPECT_EQ(text_of("drop", R"("drop":{"reason":"rules"},"alert":{"action":"blocked",)"
                            R"("signature":"s"})"),
            "T drop ids: \"s\" blocked rules");
  EXPECT_EQ(text_of("anomaly", R"("anomaly":{"event":"UNREADABLE","app_proto":"http"})"),
            "T anomaly ids: UNREADABLE http");
  EXPECT_EQ(text_of("http", R"("http":7)"), "T http ids:");
}

TEST(EventText, OtherLinesAreAsTheyAre) {
  for (const char* const line : {"", "no JSON", "[]", "{}", "{\"half\": "}) {
    EXPECT_EQ(text_of_event(line), line);
  }
}

}  // namespace
}  // namespace millrace
