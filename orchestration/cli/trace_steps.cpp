// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/trace_steps.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "orchestration/cli/fate.hpp"
#include "orchestration/cli/sgr.hpp"
#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

constexpr std::string_view kKindNames[] = {"received", "sent",   "taken",
                                           "function", "device", "released"};

double us(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) / 1e3 : 0;
}

std::string kind_name(const TraceStep& step) {
  const auto kind = static_cast<std::size_t>(step.kind);
  return std::string(kind < std::size(kKindNames) ? kKindNames[kind] : "?");
}

template <class Items>
std::string name_at(const Items& items, std::uint32_t number) {
  return number < items.size() ? items[number].name : "?";
}

/// Of the port, link or function; empty when the step has none.
std::string name_of(const Plan& plan, const TraceStep& step) {
  switch (step.kind) {
    case TraceKind::kSent:
    case TraceKind::kTaken:
      return step.number < plan.links.size() ? link_name(plan, plan.links[step.number]) : "?";
    case TraceKind::kFunction:
      return name_at(plan.functions, step.number);
    case TraceKind::kReceived:
    case TraceKind::kReleased:
      return name_at(plan.ports, step.number);
    case TraceKind::kDevice:
      break;
  }
  return "";
}

bool is_sent(const TracedStep& one) { return leaves(static_cast<std::uint8_t>(one.verdict)); }

/// The port by which a packet leaves that is done; empty for the default of its path.
std::string output_of(const Plan& plan, const TracedStep& one) {
  if (one.verdict != Verdict::kDone || one.step.port_after == 0) return "";
  return name_at(plan.ports, one.step.port_after - 1u);
}

std::string verdict_text(const Plan& plan, const TracedStep& one) {
  if (one.verdict == Verdict::kPass) return "passes";
  std::string fate = fate_text(plan.reasons, one.verdict, one.reason);
  if (!is_sent(one)) return fate;
  const std::string output = output_of(plan, one);
  return (fate.empty() ? "" : fate + ", ") + "leaves by " +
         (output.empty() ? "the output of its path" : output);
}

std::string_view reason_text(const Plan& plan, const TracedStep& one) {
  return reason_text(plan.reasons, static_cast<std::size_t>(one.reason));
}

std::string classes_text(const Plan& plan, const TraceStep& step) {
  std::string text;
  for (std::size_t i = 0; i < plan.classes.size(); ++i) {
    if ((step.classes >> i & 1) != 0) text += (text.empty() ? "" : " ") + plan.classes[i];
  }
  return text;
}

std::string function_text(const Plan& plan, const TracedStep& one) {
  if (one.step.took_part == 0) return name_of(plan, one.step) + ": not for this packet";
  char word[16];
  std::snprintf(word, sizeof word, "0x%x", one.step.result);
  const std::string classes = classes_text(plan, one.step);
  return name_of(plan, one.step) + ": result " + word + ", " + verdict_text(plan, one) +
         (classes.empty() ? "" : ", class " + classes);
}

std::string released_text(const Plan& plan, const TracedStep& one, const std::string& port) {
  std::string fate = fate_text(plan.reasons, one.verdict, one.reason);
  if (!is_sent(one)) return fate;
  return "transmitted on " + port + (fate.empty() ? "" : ", " + fate);
}

std::string what_text(const Plan& plan, const TracedStep& one) {
  const std::string name = name_of(plan, one.step);
  switch (one.step.kind) {
    case TraceKind::kReceived:
      return "received on " + name + ", until its batch left";
    case TraceKind::kSent:
      return "-> " + name;
    case TraceKind::kTaken:
      return "<- " + name;
    case TraceKind::kFunction:
      return function_text(plan, one);
    case TraceKind::kDevice:
      return "on the device";
    case TraceKind::kReleased:
      return released_text(plan, one, name);
  }
  return "";
}

}  // namespace

std::optional<TracedPacket> TraceGatherer::add(const Watching::Shown& shown,
                                               std::uint64_t since_ns) {
  TracedStep one;
  if (shown.record->point != kStepPoint || shown.bytes.size() != sizeof one.step) {
    return std::nullopt;
  }
  std::memcpy(&one.step, shown.bytes.data(), sizeof one.step);
  one.verdict = static_cast<Verdict>(shown.record->verdict);
  one.reason = static_cast<Reason>(shown.record->reason);
  one.wire_length = shown.record->wire_length;
  one.since_ns = since_ns;
  one.until_ns = shown.time_ns;
  if (one.step.kind == TraceKind::kReceived) packets_[one.step.id] = {};
  const auto at = packets_.find(one.step.id);
  if (at == packets_.end()) return std::nullopt;
  at->second.steps.push_back(one);
  if (one.step.kind != TraceKind::kReleased) return std::nullopt;
  TracedPacket packet = std::move(at->second);
  packets_.erase(at);
  std::ranges::stable_sort(packet.steps, {}, &TracedStep::until_ns);
  return packet;
}

std::string trace_text(const Plan& plan, const TracedPacket& packet, std::uint64_t number,
                       bool colour) {
  const TracedStep& first = packet.steps.front();
  const TracedStep& last = packet.steps.back();
  std::string text =
      "packet " + std::to_string(number) + ": " + std::to_string(first.wire_length) + " bytes, " +
      time_stamp(first.since_ns) + ", lane " + std::to_string(first.step.lane) + ", batch " +
      std::to_string(first.step.sequence) + ", place " + std::to_string(first.step.packet) + "\n";
  char line[160];
  std::snprintf(line, sizeof line, "  %12s %10s  %-16s %s\n", "from us", "for us", "actor", "what");
  text += line;
  for (const TracedStep& one : packet.steps) {
    const bool dropped = one.verdict == Verdict::kDrop;
    std::snprintf(line, sizeof line, "  %12.3f %10.3f  %-16s ", us(first.since_ns, one.since_ns),
                  us(one.since_ns, one.until_ns), name_at(plan.actors, one.step.actor).c_str());
    text += line;
    text += (colour && dropped ? sgr::kRed : "") + what_text(plan, one) +
            (colour && dropped ? sgr::kPlain : "") + "\n";
  }
  std::snprintf(line, sizeof line, "  %12.3f in all\n", us(first.since_ns, last.until_ns));
  return text + line;
}

nlohmann::ordered_json trace_json(const Plan& plan, const TracedPacket& packet,
                                  std::uint64_t number) {
  const TracedStep& first = packet.steps.front();
  const TracedStep& last = packet.steps.back();
  nlohmann::ordered_json json = {{"packet", number},
                                 {"bytes", first.wire_length},
                                 {"time", time_stamp(first.since_ns)},
                                 {"stream", first.step.stream},
                                 {"lane", first.step.lane},
                                 {"batch", first.step.sequence},
                                 {"place", first.step.packet},
                                 {"verdict", fate_name(last.verdict)},
                                 {"us", us(first.since_ns, last.until_ns)}};
  if (last.reason != Reason::kNone) json["reason"] = reason_text(plan, last);
  for (const TracedStep& one : packet.steps) {
    nlohmann::ordered_json step = {{"actor", name_at(plan.actors, one.step.actor)},
                                   {"what", kind_name(one.step)},
                                   {"from_us", us(first.since_ns, one.since_ns)},
                                   {"us", us(one.since_ns, one.until_ns)}};
    const std::string name = name_of(plan, one.step);
    if (!name.empty()) step["name"] = name;
    if (one.step.kind == TraceKind::kFunction) {
      step["took_part"] = one.step.took_part != 0;
      step["result"] = one.step.result;
      step["verdict"] = fate_name(one.verdict);
      if (one.reason != Reason::kNone) step["reason"] = reason_text(plan, one);
      const std::string output = output_of(plan, one);
      if (!output.empty()) step["output"] = output;
    }
    json["steps"].push_back(std::move(step));
  }
  return json;
}

}  // namespace millrace
