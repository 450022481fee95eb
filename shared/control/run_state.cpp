// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/run_state.hpp"

#include <unistd.h>

#include <cerrno>

#include "shared/control/field_codec.hpp"
#include "shared/control/run_state.capnp.h"
#include "shared/control/run_state_fields.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kMark = 0x7453724d;  ///< "MrSt": these bytes are a state

RunState read_state(wire::RunState::Reader in) {
  if (in.getMark() != kMark) throw Error("no state of a supervisor");
  RunState state;
  wire::read_item(state, in);
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
  wire::write_item<RunState>(out, state);
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
