// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/sgr.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t total_of(const std::vector<NamedCount>& counts) {
  std::uint64_t total = 0;
  for (const NamedCount& item : counts) total += item.count;
  return total;
}

std::string line(const std::string& name, std::uint64_t count, const char* indent = "") {
  const std::string number = std::to_string(count);
  std::string text = indent + name;
  const std::size_t used = text.size() + number.size();
  return text + std::string(used < 40 ? 40 - used : 1, ' ') + number + "\n";
}

std::string lines(const std::string& name, const std::vector<NamedCount>& counts) {
  std::string text = line(name, total_of(counts));
  for (const NamedCount& item : counts) text += line(item.name, item.count, "  ");
  return text;
}

Json counts_json(const std::vector<NamedCount>& counts) {
  Json json = Json::object();
  for (const NamedCount& item : counts) json[item.name] = item.count;
  return json;
}

}  // namespace

std::string audit_text(const AuditReply& audit, bool colour) {
  std::string text = line("received", audit.received);
  if (!audit.generated.empty()) text += lines("generated", audit.generated);
  text += line("transmitted", audit.transmitted);
  text += lines("dropped", audit.dropped);
  if (!audit.consumed.empty()) text += lines("consumed", audit.consumed);
  text += line("in flight", audit.in_flight);
  for (const NamedCount& loop : audit.loops) text += line("in loop " + loop.name, loop.count, "  ");
  text += line("unaccounted", audit.unaccounted);
  for (const NamedCount& item : audit.slots) text += line("slots " + item.name, item.count);
  for (const NamedCount& item : audit.buffers) text += line("buffers " + item.name, item.count);
  for (const std::string& problem : audit.problems) text += "problem: " + problem + "\n";
  const std::string verdict = audit.exact ? "exact" : "NOT EXACT";
  text += "audit by " + audit.by + ": ";
  text += colour ? (audit.exact ? sgr::kGreen : sgr::kRed) + verdict + sgr::kPlain : verdict;
  return text + (audit.quiet ? "\n" : " (live: may differ by what is in hand)\n");
}

Json audit_json(const AuditReply& audit) {
  Json lanes = Json::array();
  for (const AuditLane& lane : audit.lanes) {
    lanes.push_back({{"stream", lane.stream},
                     {"lane", lane.lane},
                     {"received", lane.received},
                     {"transmitted", lane.transmitted},
                     {"dropped", lane.dropped},
                     {"in_flight", lane.in_flight}});
  }
  Json json = {{"ok", true}, {"exact", audit.exact}, {"quiet", audit.quiet}, {"by", audit.by}};
  json["received"] = audit.received;
  json["transmitted"] = audit.transmitted;
  json["dropped_total"] = total_of(audit.dropped);
  json["dropped"] = counts_json(audit.dropped);
  json["generated"] = counts_json(audit.generated);
  json["consumed"] = counts_json(audit.consumed);
  json["in_flight"] = audit.in_flight;
  json["loops"] = counts_json(audit.loops);
  json["unaccounted"] = audit.unaccounted;
  json["slots"] = counts_json(audit.slots);
  json["buffers"] = counts_json(audit.buffers);
  json["lanes"] = std::move(lanes);
  json["problems"] = audit.problems;
  return json;
}

}  // namespace millrace
