// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/xdp_program.hpp"

#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "io-worker/ports/interface.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kMapEntries = 64;  // receive queues of an interface
constexpr int kAttempts = 50;
constexpr auto kPause = std::chrono::milliseconds(10);

int bpf(bpf_cmd command, bpf_attr& request) noexcept {
  return static_cast<int>(::syscall(SYS_bpf, command, &request, sizeof request));
}

template <typename T>
std::uint64_t address(const T* of) noexcept {
  return reinterpret_cast<std::uint64_t>(of);
}

/// The name by which one process finds the program of another. The index of an interface is unique
/// only within a network namespace.
std::string program_name(std::uint32_t index) {
  struct stat info {};
  ::stat("/proc/self/ns/net", &info);
  char name[BPF_OBJ_NAME_LEN];
  std::snprintf(name, sizeof name, "mr%08x%04x", static_cast<unsigned>(info.st_ino),
                index & 0xffff);
  return name;
}

UniqueFd make_map() {
  bpf_attr request{};
  request.map_type = BPF_MAP_TYPE_XSKMAP;
  request.key_size = request.value_size = sizeof(std::uint32_t);
  request.max_entries = kMapEntries;
  UniqueFd map(bpf(BPF_MAP_CREATE, request));
  if (map) return map;
  if (errno == EPERM) {
    throw Error("AF_XDP needs CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW: sudo, or device: afpacket");
  }
  throw system_error("make a map of AF_XDP sockets", errno);
}

UniqueFd load(const UniqueFd& map, const std::string& name) {
  const auto queue_at = static_cast<std::int16_t>(offsetof(xdp_md, rx_queue_index));
  const bpf_insn code[] = {// r2 = queue, r1 = map, r3 = what to do without a socket; redirect
                           {BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, queue_at, 0},
                           {BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map.get()},
                           {0, 0, 0, 0, 0},
                           {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_DROP},
                           {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
                           {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  // The second try is for kernels without frames in pieces (before 5.18).
  for (const std::uint32_t flags : {std::uint32_t{BPF_F_XDP_HAS_FRAGS}, std::uint32_t{0}}) {
    bpf_attr request{};
    request.prog_type = BPF_PROG_TYPE_XDP;
    request.expected_attach_type = BPF_XDP;
    request.insns = address(code);
    request.insn_cnt = std::size(code);
    request.license = address("Apache-2.0");
    request.prog_flags = flags;
    name.copy(request.prog_name, sizeof request.prog_name - 1);
    UniqueFd program(bpf(BPF_PROG_LOAD, request));
    if (program) return program;
  }
  throw system_error("load an XDP program", errno);
}

template <typename Info>
bool info_of(const UniqueFd& object, Info& info) noexcept {
  bpf_attr request{};
  request.info.bpf_fd = static_cast<std::uint32_t>(object.get());
  request.info.info_len = sizeof info;
  request.info.info = address(&info);
  return bpf(BPF_OBJ_GET_INFO_BY_FD, request) == 0;
}

UniqueFd by_id(bpf_cmd command, std::uint32_t id) noexcept {
  bpf_attr request{};
  request.link_id = id;  // prog_id and map_id lie there too
  return UniqueFd(bpf(command, request));
}

/// The map of a program that Millrace has loaded.
UniqueFd map_of(std::uint32_t program_id, const std::string& name) {
  const UniqueFd program = by_id(BPF_PROG_GET_FD_BY_ID, program_id);
  bpf_prog_info info{};
  std::uint32_t map_id = 0;
  info.nr_map_ids = 1;
  info.map_ids = address(&map_id);
  if (!program || !info_of(program, info) || name != info.name || info.nr_map_ids != 1) return {};
  return by_id(BPF_MAP_GET_FD_BY_ID, map_id);
}

struct Found {
  UniqueFd link, map;
};

std::optional<Found> find(std::uint32_t index, const std::string& name) {
  std::uint32_t id = 0;
  for (;;) {
    bpf_attr request{};
    request.start_id = id;
    if (bpf(BPF_LINK_GET_NEXT_ID, request) != 0) return std::nullopt;
    id = request.next_id;
    UniqueFd link = by_id(BPF_LINK_GET_FD_BY_ID, id);
    bpf_link_info info{};
    if (!link || !info_of(link, info) || info.type != BPF_LINK_TYPE_XDP) continue;
    if (info.xdp.ifindex != index) continue;
    UniqueFd map = map_of(info.prog_id, name);
    if (map) return Found{std::move(link), std::move(map)};
  }
}

UniqueFd link_to(const UniqueFd& program, std::uint32_t index) noexcept {
  bpf_attr request{};
  request.link_create.prog_fd = static_cast<std::uint32_t>(program.get());
  request.link_create.target_ifindex = index;
  request.link_create.attach_type = BPF_XDP;
  return UniqueFd(bpf(BPF_LINK_CREATE, request));
}

Error not_attached(const std::string& interface, int error) {
  const std::string what = "attach an XDP program to interface '" + interface + "'";
  if (error == EBUSY || error == EEXIST) {
    return Error(what + ": it has one: ip link set " + interface + " xdp off");
  }
  if (error == ENOSPC) {  // what veth says
    return Error(what +
                 ": the other end sends on more queues than this one receives on: raise "
                 "the port's queues, or there: ethtool -L eth0 tx 1");
  }
  if (error == ERANGE || error == EOPNOTSUPP) {
    return Error(what + ": its driver cannot at this MTU: lower the MTU, or device: afpacket");
  }
  return system_error(what, error);
}

}  // namespace

XdpProgram XdpProgram::attach(const std::string& interface) {
  const std::uint32_t index = interface_index(interface);
  const std::string name = program_name(index);
  int error = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (auto found = find(index, name)) return {std::move(found->link), std::move(found->map)};
    UniqueFd map = make_map();
    const UniqueFd program = load(map, name);
    UniqueFd link = link_to(program, index);
    if (link) return {std::move(link), std::move(map)};
    error = errno;
    // Another queue was faster, or the kernel still removes the program of a process that ended.
    if (error != EBUSY && error != EEXIST) break;
    std::this_thread::sleep_for(kPause);
  }
  throw not_attached(interface, error);
}

void XdpProgram::serve(std::uint32_t queue, const UniqueFd& socket) const {
  const auto value = static_cast<std::uint32_t>(socket.get());
  bpf_attr request{};
  request.map_fd = static_cast<std::uint32_t>(map_.get());
  request.key = address(&queue);
  request.value = address(&value);
  if (bpf(BPF_MAP_UPDATE_ELEM, request) != 0) {
    throw system_error("steer receive queue " + std::to_string(queue) + " to its socket", errno);
  }
}

}  // namespace millrace
