// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/run_state.hpp"

#include <unistd.h>

#include <cerrno>

#include "shared/control/run_state.capnp.h"
#include "shared/control/whole_file.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using wire::read_list;
using wire::size_of;
using wire::text;
using wire::write_list;

constexpr std::uint32_t kMark = 0x7453724d;  ///< "MrSt": these bytes are a state
/// Posts, functions and files of a run are far fewer: the plan has limits of its own.
constexpr std::size_t kItemsMax = std::size_t{1} << 16;

void write_config(const ConfigFacts& config, wire::ConfigFacts::Builder out) {
  out.setGeneration(config.generation);
  out.setHash(config.hash);
  out.setDiffers(config.differs);
  out.setReloadsDone(config.reloads_done);
  out.setReloadsRefused(config.reloads_refused);
  out.setControlRefused(config.control_refused);
  out.setHasBypass(config.bypass.has_value());
  out.setBypass(config.bypass.value_or(false));
  out.setChangedNs(config.changed_ns);
  out.setFailedNs(config.failed_ns);
}

ConfigFacts read_config(wire::ConfigFacts::Reader in) {
  return {.generation = in.getGeneration(),
          .hash = text(in.getHash()),
          .differs = in.getDiffers(),
          .reloads_done = in.getReloadsDone(),
          .reloads_refused = in.getReloadsRefused(),
          .control_refused = in.getControlRefused(),
          .bypass = in.getHasBypass() ? std::optional(in.getBypass()) : std::nullopt,
          .changed_ns = in.getChangedNs(),
          .failed_ns = in.getFailedNs()};
}

void write_parts(const RunState& state, wire::RunState::Builder out) {
  write_list(state.posts, out.initPosts(size_of(state.posts)),
             [](const PostState& post, wire::PostState::Builder item) {
               item.setName(post.name);
               item.setWanted(post.wanted);
               item.setRestarts(post.restarts);
               item.setEnd(post.end);
             });
  write_list(state.wanted, out.initWanted(size_of(state.wanted)),
             [](const WantedWorkers& one, wire::WantedWorkers::Builder item) {
               item.setGroup(one.group);
               item.setCount(one.count);
             });
  write_list(state.tables, out.initTables(size_of(state.tables)),
             [](const TableFacts& table, wire::TableFacts::Builder item) {
               item.setFunction(table.function);
               item.setGeneration(table.generation);
               item.setAccepted(table.accepted);
               item.setRefused(table.refused);
               write_list(table.files, item.initFiles(size_of(table.files)),
                          [](const TableFileFacts& file, wire::TableFileFacts::Builder one) {
                            one.setPath(file.path);
                            one.setAccepted(file.accepted);
                          });
             });
}

void read_parts(RunState& state, wire::RunState::Reader in) {
  read_list(state.posts, in.getPosts(), kItemsMax, "posts", [](wire::PostState::Reader item) {
    return PostState{text(item.getName()), item.getWanted(), item.getRestarts(),
                     text(item.getEnd())};
  });
  read_list(state.wanted, in.getWanted(), kItemsMax, "groups",
            [](wire::WantedWorkers::Reader item) {
              return WantedWorkers{text(item.getGroup()), item.getCount()};
            });
  read_list(state.tables, in.getTables(), kItemsMax, "tables", [](wire::TableFacts::Reader item) {
    TableFacts table{text(item.getFunction()), item.getGeneration(), item.getAccepted(),
                     item.getRefused()};
    read_list(table.files, item.getFiles(), kItemsMax, "files of a table",
              [](wire::TableFileFacts::Reader file) {
                return TableFileFacts{text(file.getPath()), file.getAccepted()};
              });
    return table;
  });
}

RunState read_state(wire::RunState::Reader in) {
  if (in.getMark() != kMark) throw Error("no state of a supervisor");
  RunState state{.stopping = in.getStopping(), .config = read_config(in.getConfig())};
  read_parts(state, in);
  if (in.hasDeadline()) {
    const auto deadline = in.getDeadline();
    state.deadline = {deadline.getTimeNs(), deadline.getGeneration(), text(deadline.getBoot())};
  }
  if (in.hasControl()) {
    const auto control = in.getControl();
    state.control = {.address = text(control.getAddress()), .key = text(control.getKey())};
    read_list(state.control->clients, control.getClients(), kItemsMax, "files of clients", text);
  }
  return state;
}

/// Nothing: there is no such file. One that comes between a look and the next is read.
std::optional<std::vector<std::byte>> bytes_of(const std::string& path) {
  try {
    return read_whole_file(path, kStateBytesMax);
  } catch (const Error&) {
    if (::access(path.c_str(), F_OK) != 0) {
      if (errno == ENOENT) return std::nullopt;
      throw;
    }
  }
  return read_whole_file(path, kStateBytesMax);
}

}  // namespace

std::string run_state_path(const std::string& run_dir) { return run_dir + "/supervisor.state"; }

std::vector<std::byte> encode_run_state(const RunState& state) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<wire::RunState>();
  out.setMark(kMark);
  out.setStopping(state.stopping);
  write_parts(state, out);
  write_config(state.config, out.initConfig());
  if (state.deadline) {
    auto deadline = out.initDeadline();
    deadline.setTimeNs(state.deadline->time_ns);
    deadline.setGeneration(state.deadline->generation);
    deadline.setBoot(state.deadline->boot);
  }
  if (state.control) {
    auto control = out.initControl();
    control.setAddress(state.control->address);
    control.setKey(state.control->key);
    wire::write_texts(state.control->clients, control.initClients(size_of(state.control->clients)));
  }
  return wire::message_bytes(message);
}

RunState decode_run_state(std::span<const std::byte> bytes) {
  return wire::read_message<wire::RunState>(bytes, "bytes", read_state);
}

void save_run_state(const std::string& run_dir, const RunState& state) {
  write_whole_file(run_state_path(run_dir), encode_run_state(state));
}

RunState load_run_state(const std::string& run_dir) {
  const std::string path = run_state_path(run_dir);
  const auto bytes = bytes_of(path);
  if (!bytes) return {};
  try {
    return decode_run_state(*bytes);
  } catch (const Error& error) {
    throw Error(path + ": " + error.what() + " (to go on without what it says: rm " + path + ")");
  }
}

}  // namespace millrace
