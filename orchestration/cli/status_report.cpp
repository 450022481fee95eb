// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "orchestration/cli/running.hpp"
#include "orchestration/cli/sgr.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/message_fields.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

const char* colour_of(const std::string& state) {
  if (state == "alive") return sgr::kGreen;
  if (state == "vacant") return sgr::kDim;
  return state == "given up" || state == "quarantined" ? sgr::kRed : sgr::kYellow;
}

std::string padded(const std::string& text, std::size_t width, bool right = false) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

std::string actor_line(const ActorStatus& actor, std::size_t name_width, bool colour) {
  const auto number = [](std::uint64_t value, std::size_t width) {
    return padded(std::to_string(value), width, true);
  };
  const std::string state = padded(actor.state, 12);
  std::string line = padded(actor.name, name_width);
  line += colour ? colour_of(actor.state) + state + sgr::kPlain : state;
  line += padded(actor.pid == 0 ? "-" : std::to_string(actor.pid), 8, true);
  line += number(actor.restarts, 10) + number(actor.batches, 14) + number(actor.packets, 16);
  const bool beats = actor.pid != 0 && actor.heartbeat_age_ms != kNoHeartbeat;
  line += padded(beats ? std::to_string(actor.heartbeat_age_ms) + " ms" : "-", 12, true);
  return line + (actor.note.empty() ? "" : "  last: " + actor.note) + "\n";
}

std::string event_line(const Event& event) {
  const auto seconds = static_cast<std::time_t>(event.time_ns / 1'000'000'000);
  std::tm when{};
  ::gmtime_r(&seconds, &when);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%SZ", &when);
  return std::string(text) + " " + padded(std::string(enum_name(event.severity)), 8) + event.text +
         "\n";
}

}  // namespace

std::string status_text(const StatusReply& status, bool colour) {
  const std::string run = words_for_run(status.topology, status.run_dir);
  std::string text = "topology " + status.topology + ": " + status.phase + " for " +
                     std::to_string(status.up_ns / 1'000'000'000) + " s in " + status.run_dir +
                     "\n";
  text += "generation " + std::to_string(status.generation) +
          (status.hash.empty() ? "" : " of files " + status.hash) +
          (status.differs ? ", which say something else by now (millrace plan --diff)" : "") + "\n";
  if (status.confirm_seconds != 0) {
    text += "taken back in " + std::to_string(status.confirm_seconds) +
            " s, unless confirmed: millrace confirm " + run + "\n";
  }
  if (!status.taking_back.empty()) text += status.taking_back + "\n";
  if (status.drained) {
    text += "drained, no port is read; to go on: millrace undrain " + run + "\n";
  }
  std::size_t name_width = 20;
  for (const ActorStatus& actor : status.actors) {
    name_width = std::max(name_width, actor.name.size() + 1);
  }
  text += "\n" + padded("actor", name_width) + padded("state", 12) + padded("pid", 8, true) +
          padded("restarts", 10, true) + padded("batches", 14, true) + padded("packets", 16, true) +
          padded("heartbeat", 12, true) + "\n";
  for (const ActorStatus& actor : status.actors) {
    text += actor_line(actor, name_width, colour);
  }
  for (const NamedCount& skipped : status.skipped) {
    if (skipped.count == 0) continue;
    text += "\nskipped by " + skipped.name + ": " + std::to_string(skipped.count) + " packets\n";
  }
  for (const NamedCount& refused : status.refused) {
    if (refused.count == 0) continue;
    text += "\nrefused at the ingress, path " + refused.name + ": " +
            std::to_string(refused.count) + " packets\n";
  }
  for (const NamedCount& share : status.offload) {
    text += "\noffload to " + share.name + " (auto): " + std::to_string(share.count) +
            " % of the batches\n";
  }
  for (const std::string& function : status.out) {
    text += "\nout of service: " + function + "; put it back: millrace function " + run + " " +
            function + " in\n";
  }
  if (!status.events.empty()) text += "\n";
  for (const Event& event : status.events) text += event_line(event);
  return text;
}

Json status_json(const StatusReply& status) {
  Json actors = Json::array();
  for (const ActorStatus& actor : status.actors) {
    Json item = {{"name", actor.name}};
    item["actor"] = actor.actor == kNoActor ? Json() : Json(actor.actor);
    item["state"] = actor.state;
    item["pid"] = actor.pid;
    item["incarnation"] = actor.incarnation;
    item["restarts"] = actor.restarts;
    item["packets"] = actor.packets;
    item["batches"] = actor.batches;
    const bool beats = actor.heartbeat_age_ms != kNoHeartbeat;
    item["heartbeat_age_ms"] = beats ? Json(actor.heartbeat_age_ms) : Json();
    item["last_end"] = actor.note;
    actors.push_back(std::move(item));
  }
  Json events = Json::array();
  for (const Event& event : status.events) {
    events.push_back({{"time_ns", event.time_ns},
                      {"severity", enum_name(event.severity)},
                      {"kind", event.kind},
                      {"text", event.text},
                      {"number", event.number}});
  }
  Json skipped = Json::object();
  for (const NamedCount& count : status.skipped) skipped[count.name] = count.count;
  Json refused = Json::object();
  for (const NamedCount& count : status.refused) refused[count.name] = count.count;
  Json offload = Json::object();
  for (const NamedCount& share : status.offload) offload[share.name] = share.count;
  return {{"ok", true},
          {"topology", status.topology},
          {"phase", status.phase},
          {"run_dir", status.run_dir},
          {"up_seconds", static_cast<double>(status.up_ns) / 1e9},
          {"generation", status.generation},
          {"hash", status.hash},
          {"differs", status.differs},
          {"confirm_seconds", status.confirm_seconds},
          {"taking_back", status.taking_back},
          {"drained", status.drained},
          {"actors", std::move(actors)},
          {"skipped", std::move(skipped)},
          {"refused", std::move(refused)},
          {"offload", std::move(offload)},
          {"out", status.out},
          {"events", std::move(events)}};
}

}  // namespace millrace
