// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/filter.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "orchestration/planner/problem.hpp"
#include "shared/base/check.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

constexpr const char* kSyntax = "pcap filter syntax, see pcap-filter(7)";

/// What a filter for Ethernet may say, without names of hosts, networks, ports and protocols.
// clang-format off
constexpr std::string_view kWords[] = {
    "aarp", "ah", "and", "arp", "atalk", "broadcast", "carp", "clnp", "csnp", "decnet", "dst",
    "esis", "esp", "ether", "geneve", "greater", "host", "icmp", "icmp-echo", "icmp-echoreply",
    "icmp-ireq", "icmp-ireqreply", "icmp-maskreply", "icmp-maskreq", "icmp-paramprob",
    "icmp-redirect", "icmp-routeradvert", "icmp-routersolicit", "icmp-sourcequench",
    "icmp-timxceed", "icmp-tstamp", "icmp-tstampreply", "icmp-unreach", "icmp6",
    "icmp6-certpathadvert", "icmp6-certpathsolicit", "icmp6-destinationunreach", "icmp6-echo",
    "icmp6-echoreply", "icmp6-homeagentdiscoveryreply", "icmp6-homeagentdiscoveryrequest",
    "icmp6-ineighbordiscoveryadvert", "icmp6-ineighbordiscoverysolicit", "icmp6-mobileprefixadvert",
    "icmp6-mobileprefixsolicit", "icmp6-multicastlistenerdone", "icmp6-multicastlistenerquery",
    "icmp6-multicastlistenerreportv1", "icmp6-multicastlistenerreportv2",
    "icmp6-multicastrouteradvert", "icmp6-multicastroutersolicit", "icmp6-multicastrouterterm",
    "icmp6-neighboradvert", "icmp6-neighborsolicit", "icmp6-nodeinformationquery",
    "icmp6-nodeinformationresponse", "icmp6-packettoobig", "icmp6-parameterproblem",
    "icmp6-redirect", "icmp6-routeradvert", "icmp6-routerrenum", "icmp6-routersolicit",
    "icmp6-timeexceeded", "icmp6code", "icmp6type", "icmpcode", "icmptype", "igmp", "igrp", "iih",
    "ip", "ip6", "ipx", "isis", "iso", "l1", "l2", "lat", "len", "length", "less", "link", "llc",
    "lsp", "mask", "mopdl", "moprc", "mpls", "multicast", "net", "netbeui", "not", "or", "pim",
    "port", "portrange", "pppoed", "pppoes", "proto", "protochain", "psnp", "rarp", "sctp", "snp",
    "src", "stp", "tcp", "tcp-ack", "tcp-cwr", "tcp-ece", "tcp-fin", "tcp-push", "tcp-rst",
    "tcp-syn", "tcp-urg", "tcpflags", "udp", "vlan", "vrrp"};
// clang-format on

struct Closer {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
};
using Pcap = std::unique_ptr<pcap_t, Closer>;

bool may_have_a_name(const FilterToken* before) {
  if (before == nullptr) return false;
  return before->text == "port" || before->text == "portrange" || before->text == "proto" ||
         before->text == "protochain";
}

/// Words that are none of libpcap's would be looked up in the DNS.
bool check_words(std::span<const FilterToken> tokens, FilterProblem& problem) {
  const FilterToken* before = nullptr;
  for (const FilterToken& token : tokens) {
    const bool range = token.kind == FilterToken::Kind::kRange;
    const bool word = token.kind == FilterToken::Kind::kWord;
    const bool known =
        std::find(std::begin(kWords), std::end(kWords), token.text) != std::end(kWords);
    if ((range || (word && !known)) && !may_have_a_name(before)) {
      problem = {token.at, "'" + shown(token.text) + "' in a filter",
                 "words of pcap-filter(7), numbers, addresses; names of ports behind 'port' only",
                 nearest_of(token.text, kWords)};
      return false;
    }
    before = &token;
  }
  return true;
}

/// Empty when it can be compiled, else what libpcap says.
std::string compile(pcap_t* pcap, const std::string& text, std::vector<std::uint64_t>* program) {
  bpf_program compiled{};
  if (pcap_compile(pcap, &compiled, text.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return pcap_geterr(pcap);
  }
  for (u_int i = 0; program != nullptr && i < compiled.bf_len; ++i) {
    const bpf_insn& at = compiled.bf_insns[i];
    program->push_back(filter_word(at.code, at.jt, at.jf, at.k));
  }
  pcap_freecode(&compiled);
  return {};
}

/// True when something can follow `start` so that a filter comes out.
bool can_go_on(pcap_t* pcap, std::string start, std::span<const FilterToken> tokens) {
  constexpr std::string_view kEnds[] = {
      "",     " 1",          " = 1",    " ip",   " port 1",           " 1.2.3.4", " host 1.2.3.4",
      " 1-2", " 1.2.3.0/24", " 1] = 1", "] = 1", " 00:00:00:00:00:01"};
  std::string closing;
  for (const FilterToken& token : tokens) {
    if (token.text == "(") closing += ")";
    if (token.text == ")" && !closing.empty()) closing.pop_back();
  }
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) {
    return compile(pcap, start + std::string(end) + closing, nullptr).empty() ||
           compile(pcap, start + std::string(end) + closing + " = 1", nullptr).empty();
  });
}

/// libpcap does not say where a syntax error is: it is behind the longest part that can go on.
FilterProblem syntax_problem(pcap_t* pcap, const std::string& text,
                             std::span<const FilterToken> tokens) {
  constexpr std::size_t kTokensMax = 64;  // each is tried with all ends
  std::size_t right = std::min(tokens.size(), kTokensMax);
  for (; right > 0; --right) {
    const FilterToken& last = tokens[right - 1];
    if (can_go_on(pcap, text.substr(0, last.at + last.text.size()), tokens.first(right))) break;
  }
  if (right == tokens.size()) return {text.size(), "the end of a filter too early", kSyntax, ""};
  return {tokens[right].at, "'" + shown(tokens[right].text) + "' where a filter cannot have it",
          kSyntax, ""};
}

FilterProblem problem_of(pcap_t* pcap, const std::string& message, const std::string& text,
                         std::span<const FilterToken> tokens) {
  if (message.find("syntax error") != message.npos) return syntax_problem(pcap, text, tokens);
  FilterProblem problem{0, "a filter that libpcap does not take (" + message + ")", kSyntax, ""};
  for (const FilterToken& token : tokens) {
    const bool value = token.kind != FilterToken::Kind::kSign && token.text.size() > 1;
    if (value && message.find(token.text) != message.npos) problem.at = token.at;
  }
  return problem;
}

}  // namespace

std::optional<CompiledFilter> compile_filter(const std::string& text, FilterProblem& problem) {
  if (text.size() > kFilterBytesMax) {
    problem = {0, "a filter of " + std::to_string(text.size()) + " bytes",
               "at most " + std::to_string(kFilterBytesMax), ""};
    return std::nullopt;
  }
  const auto tokens = filter_tokens(text, problem);
  if (!tokens || !check_words(*tokens, problem)) return std::nullopt;
  const Pcap pcap(pcap_open_dead(DLT_EN10MB, 65535));
  MILLRACE_CHECK(pcap != nullptr);
  CompiledFilter filter;
  const std::string message = compile(pcap.get(), text, &filter.program);
  if (!message.empty()) {
    problem = problem_of(pcap.get(), message, text, *tokens);
    return std::nullopt;
  }
  if (filter.program.size() > kFilterInstructionMax || !is_sound_filter(filter.program)) {
    problem = {0, "a filter of " + std::to_string(filter.program.size()) + " instructions",
               "at most " + std::to_string(kFilterInstructionMax), ""};
    return std::nullopt;
  }
  filter.warnings = warn_of_parts(*tokens);
  if (const auto flow = one_way_flow(filter.program)) {
    filter.warnings.push_back({0, "it takes " + *flow + " but not the answer"});
  }
  return filter;
}

}  // namespace millrace
