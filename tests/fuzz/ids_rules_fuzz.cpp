// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a file of Snort's and Suricata's rules: each rule is read, refused with a reason or
// disabled; what was read keeps the limits that workers count on, and read again by itself it is
// the same rule. A byte that is no ASCII stands for a word of the language, so that mutations make
// rules of other rules' words.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "services/functions/ids/rules/rule_set.hpp"
#include "shared/base/check.hpp"

namespace {

using millrace::RuleSet;
using millrace::Signature;

constexpr std::array<std::string_view, 128> kWords = {
    "\n",
    "alert ",
    "drop ",
    "pass ",
    "reject ",
    "rejectboth ",
    "block ",
    "tcp ",
    "udp ",
    "ip ",
    "icmp ",
    "http ",
    "dns ",
    "tls ",
    "ssh ",
    "smtp ",
    "tcp-pkt ",
    "tcp-stream ",
    "ipv6 ",
    "any ",
    "any any -> any any (msg:\"m\"; ",
    "$HOME_NET ",
    "$EXTERNAL_NET ",
    "[10.0.0.0/8,!10.1.0.0/16] ",
    "![2001:db8::/32] ",
    "1.1.1.1-1.1.1.9 ",
    "$HTTP_PORTS ",
    "[80,8000:8080] ",
    "!80 ",
    "1024: ",
    "-> ",
    "<> ",
    "(",
    " sid:1;)",
    " sid:2; rev:3;)",
    "; ",
    "content:\"",
    "content:!\"",
    "\"; ",
    "|00 ff|",
    "nocase; ",
    "offset:1; ",
    "depth:8; ",
    "distance:0; ",
    "within:10; ",
    "fast_pattern; ",
    "fast_pattern:1,2; ",
    "startswith; ",
    "endswith; ",
    "rawbytes; ",
    ",nocase",
    ",depth 8",
    ",offset 2",
    ",distance -1",
    ",within 9",
    ",fast_pattern_offset 1",
    "pcre:\"/",
    "/Ri\"; ",
    "/U\"; ",
    "\\x41+",
    "(a|b)*",
    "byte_test:4,>,10,0; ",
    "byte_test:1,!&,0x80,3,relative; ",
    "byte_jump:2,0,relative,little,align; ",
    "byte_extract:1,0,len; ",
    "within:len; ",
    "byte_math:bytes 2,offset 0,oper +,rvalue 1,result r; ",
    "isdataat:!1,relative; ",
    "isdataat:10; ",
    "bsize:<20; ",
    "bsize:3<>9; ",
    "urilen:5<>10; ",
    "bufferlen:4; ",
    "dsize:>100; ",
    "flags:S,12; ",
    "flags:+AP; ",
    "ttl:<5; ",
    "fragbits:!D; ",
    "id:7; ",
    "itype:8; ",
    "icode:0; ",
    "ip_proto:6; ",
    "window:1024; ",
    "seq:0; ",
    "sameip; ",
    "flow:established,to_server; ",
    "flow:to_client; ",
    "flow:stateless; ",
    "flow:only_stream; ",
    "flowbits:set,a; ",
    "flowbits:isset,a|b; ",
    "flowbits:isnotset,b; ",
    "flowbits:noalert; ",
    "flowbits:toggle,c; ",
    "threshold:type limit,track by_src,count 1,seconds 60; ",
    "detection_filter:track by_dst,count 5,seconds 10; ",
    "classtype:trojan-activity; ",
    "priority:1; ",
    "metadata:a b, c d; ",
    "reference:url,a.example; ",
    "gid:3; ",
    "noalert; ",
    "http.uri; ",
    "http.method; ",
    "http.header; ",
    "http.request_body; ",
    "http.stat_code; ",
    "file.data; ",
    "file_data; ",
    "dns.query; ",
    "tls.sni; ",
    "ja3.hash; ",
    "ssh.software; ",
    "http_uri; ",
    "http_header; ",
    "http_client_body; ",
    "pkt_data; ",
    "service:http; ",
    "rem:\"x;y\"; ",
    "to_lowercase; ",
    "to_md5; ",
    "xor:\"0a\"; ",
    "dotprefix; ",
    "url_decode; ",
    "pcrexform:\"(a+)\"; ",
    "\\;",
    "\\\n",
    "# "};

std::string text_of(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint8_t kFirstWord = 0x80;
  std::string text;
  for (std::size_t at = 0; at < size; ++at) {
    if (data[at] < kFirstWord) {
      text += static_cast<char>(data[at]);
    } else {
      text += kWords.at(data[at] - kFirstWord);
    }
  }
  return text;
}

void check_ranges(const Signature& rule) {
  for (const auto* set : {&rule.source, &rule.destination}) {
    MILLRACE_CHECK(set->is_any == set->ranges.empty());
    for (std::size_t at = 0; at < set->ranges.size(); ++at) {
      const auto& range = set->ranges[at];
      MILLRACE_CHECK(range.version == 4 || range.version == 6);
      MILLRACE_CHECK(range.low <= range.high && set->contains(range.version, range.low));
      MILLRACE_CHECK(set->contains(range.version, range.high));
      if (at == 0) continue;
      const auto& before = set->ranges[at - 1];
      MILLRACE_CHECK(before.version < range.version ||
                     (before.version == range.version && before.high < range.low));
    }
  }
  for (const auto* set : {&rule.source_ports, &rule.destination_ports}) {
    MILLRACE_CHECK(set->is_any == set->ranges.empty());
    for (const auto& [low, high] : set->ranges) {
      MILLRACE_CHECK(low <= high && set->contains(low) && set->contains(high));
    }
  }
}

void check_rule(const Signature& rule, const RuleSet& rules) {
  MILLRACE_CHECK(rule.sid != 0 && rule.priority != 0);
  MILLRACE_CHECK(rule.looks_at_packets() || rule.looks_at_streams() ||
                 rule.looks_at_transactions());
  check_ranges(rule);
  for (const auto& test : rule.flowbits) {
    MILLRACE_CHECK(!test.bits.empty());
    for (const auto bit : test.bits) MILLRACE_CHECK(bit < rules.flowbits.size());
  }
  if (!rule.fast_pattern) return;
  MILLRACE_CHECK(rule.fast_pattern->buffer < rule.buffers.size());
  const auto& tests = rule.buffers[rule.fast_pattern->buffer].tests;
  MILLRACE_CHECK(rule.fast_pattern->test < tests.size());
  const auto* content = std::get_if<millrace::ContentMatch>(&tests[rule.fast_pattern->test]);
  MILLRACE_CHECK(content != nullptr && !content->negated && rule.fast_pattern->length != 0);
  MILLRACE_CHECK(std::size_t{rule.fast_pattern->offset} + rule.fast_pattern->length <=
                 content->bytes.size());
}

void check_again(const Signature& rule, const millrace::RuleSetup& setup) {
  RuleSet alone;
  millrace::read_rules(rule.text, "again", setup, alone);
  MILLRACE_CHECK(alone.signatures.size() == 1 && alone.refusals.empty() && alone.disabled == 0);
  const Signature& read = alone.signatures[0];
  MILLRACE_CHECK(read.text == rule.text && read.sid == rule.sid && read.gid == rule.gid);
  MILLRACE_CHECK(read.action == rule.action && read.protocol == rule.protocol);
  MILLRACE_CHECK(read.message == rule.message && read.buffers.size() == rule.buffers.size());
  for (std::size_t at = 0; at < read.buffers.size(); ++at) {
    MILLRACE_CHECK(read.buffers[at].buffer == rule.buffers[at].buffer);
    MILLRACE_CHECK(read.buffers[at].tests.size() == rule.buffers[at].tests.size());
  }
  MILLRACE_CHECK(read.fast_pattern.has_value() == rule.fast_pattern.has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const millrace::RuleSetup kSetup = millrace::default_rule_setup();
  const std::string text = text_of(data, size);
  RuleSet rules;
  millrace::read_rules(text, "fuzz.rules", kSetup, rules);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  const std::size_t count = rules.signatures.size();
  MILLRACE_CHECK(count + rules.refusals.size() + rules.disabled <= lines);
  for (const auto& refusal : rules.refusals) MILLRACE_CHECK(!refusal.reason.empty());
  millrace::sort_signatures(rules);
  MILLRACE_CHECK(rules.signatures.size() == count);
  for (const Signature& rule : rules.signatures) {
    check_rule(rule, rules);
    check_again(rule, kSetup);
  }
  return 0;
}
