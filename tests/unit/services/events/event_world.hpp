// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shared/base/unique_fd.hpp"
#include "shared/layout/event_rings.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {

/// A folder that goes with its test.
class EventFolder {
 public:
  EventFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "millrace-events-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  EventFolder(const EventFolder&) = delete;
  ~EventFolder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return path_ / name; }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

/// A topology with events, and its rings in shared memory of their own.
struct EventWorld {
  EventWorld() {
    plan.events = PlanEvents{};
    count = event_ring_count(plan);
    memory = Mapping::create_anonymous(event_rings_bytes(count));
    rings = EventRings(memory.base(), count);
  }
  /// Records of `ring`, with the numbers [first, first + many) as rules.
  void tell(std::uint32_t ring, std::uint32_t first, std::uint32_t many) const {
    EventLog log(rings, ring);
    for (std::uint32_t i = 0; i < many; ++i) {
      EventRecord* const record = log.add();
      if (record == nullptr) continue;
      *record = {};
      record->alert.rule = first + i;
    }
    log.publish();
  }
  /// Lines of several records each, of signatures with these numbers.
  void tell_long(std::uint32_t ring, std::uint32_t first, std::uint32_t many) const {
    EventLog log(rings, ring);
    EventTextWriter text;
    text.put(EventField::kPayload, std::string(2 * kEventTextBytes, 'p'), SIZE_MAX);
    for (std::uint32_t i = 0; i < many; ++i) {
      EventRecord* const record = log.add(text.bytes());
      if (record == nullptr) continue;
      *record = {};
      record->kind = EventKind::kSignature;
      record->signature.sid = first + i;
      record->signature.texts = texts_for(text.bytes());
    }
    log.publish();
  }

  Plan plan = plan_of_text(kTwoPaths);
  std::uint32_t count = 0;
  Mapping memory;
  EventRings rings;
};

/// A client of the socket at `path`.
inline UniqueFd connect_client(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return client;
}

/// What is there for the client now.
inline std::string received(const UniqueFd& client) {
  std::string all;
  char piece[65536];
  for (ssize_t got; (got = ::read(client.get(), piece, sizeof piece)) > 0;) {
    all.append(piece, static_cast<std::size_t>(got));
  }
  return all;
}

}  // namespace millrace::test
