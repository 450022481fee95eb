// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

/// A function of a path: what is known of it, and its name where `run` has it.
struct Member {
  const KnownFunction* known;
  const Marked<std::string>* name;
};

std::vector<Member> members_of(const Planning& planning, const TopologyPath& path) {
  std::vector<Member> members;
  for (const Marked<std::string>& name : path.run) {
    const std::size_t index = index_of(planning.topology.functions, name.value);
    const std::string& type = planning.plan.functions[index].type;
    members.push_back({&known_of(planning, type), &name});
  }
  return members;
}

/// What the functions ask for together, and each that asks: "28 bytes of its functions (a 20, b
/// 8)".
struct Sum {
  std::uint32_t bytes = 0;
  std::string text;
  const Marked<std::string>* last = nullptr;  ///< that asks
};

Sum sum_of(const std::vector<Member>& members, std::uint32_t KnownFunction::*trait) {
  Sum sum;
  std::string each;
  for (const Member& member : members) {
    const std::uint32_t bytes = member.known->*trait;
    if (bytes == 0) continue;
    sum.bytes += bytes;
    sum.last = member.name;
    each += (each.empty() ? "" : ", ") + member.name->value + " " + std::to_string(bytes);
  }
  sum.text = std::to_string(sum.bytes) + " bytes of its functions (" + each + ")";
  return sum;
}

/// Headroom, Ethernet with two VLAN tags and FCS, rounded up to a cache line; no power of two.
std::uint32_t stride_for(std::uint32_t mtu, std::uint32_t tailroom) {
  constexpr std::uint32_t kFraming = 14 + 8 + 4;
  constexpr auto kLine = static_cast<std::uint32_t>(kCacheLine);
  const std::uint32_t bytes = kBufferHeadroom + mtu + kFraming + tailroom;
  std::uint32_t stride = (bytes + kLine - 1) / kLine * kLine;
  if (stride < kBufferStrideDefault) stride = kBufferStrideDefault;
  return (stride & (stride - 1)) == 0 ? stride + kLine : stride;
}

static_assert((kBufferStrideDefault & (kBufferStrideDefault - 1)) != 0);

void check_headroom(Planning& planning, const TopologyPath& path,
                    const std::vector<Member>& members) {
  const Sum front = sum_of(members, &KnownFunction::headroom);
  if (front.bytes <= kBufferHeadroom) return;
  planning.problems.add(
      front.last->mark,
      "path '" + path.name.value + "' with " + front.text + " in front of a packet",
      "at most " + std::to_string(kBufferHeadroom) + ", the headroom of a buffer");
}

/// A packet of the longest kind still leaves when the functions have made it longer.
void check_mtu(Planning& planning, const TopologyPath& path, const std::vector<Member>& members,
               const PlanPort& in, const PlanPort& out) {
  const Sum growth = sum_of(members, &KnownFunction::growth);
  const std::uint32_t longest = in.mtu + growth.bytes;
  if (growth.bytes == 0 || longest <= out.mtu) return;
  std::string allowed = "mtu " + std::to_string(longest) + " or more at port '" + out.name + "'";
  if (&in != &out && growth.bytes < out.mtu) {
    allowed +=
        ", or mtu " + std::to_string(out.mtu - growth.bytes) + " or less at port '" + in.name + "'";
  }
  planning.problems.add(growth.last->mark,
                        "path '" + path.name.value + "': mtu " + std::to_string(in.mtu) +
                            " of port '" + in.name + "' and " + growth.text + " are " +
                            std::to_string(longest) + ", more than mtu " + std::to_string(out.mtu) +
                            " of port '" + out.name + "'",
                        allowed);
}

/// Whether the port hands out a packet again without all of its bytes being restored.
bool hands_out_again(const PlanPort& port) {
  const auto copies = [](const auto& setting) {
    return setting.first == "copy" && setting.second == "true";
  };
  return port.device == "replay" && !std::ranges::any_of(port.settings, copies);
}

void check_replay(Planning& planning, const TopologyPath& path, const std::vector<Member>& members,
                  const PlanPort& in) {
  if (!hands_out_again(in)) return;
  for (const Member& member : members) {
    if (member.known->rewrites != Rewrites::kAll) continue;
    planning.problems.add(member.name->mark,
                          "function '" + member.name->value + "' of path '" + path.name.value +
                              "' changes whole packets, and port '" + in.name +
                              "' hands out the same ones again",
                          "`copy: true` at port '" + in.name + "'");
  }
}

}  // namespace

void plan_room(Planning& planning) {
  Plan& plan = planning.plan;
  std::uint32_t mtu = 0, tailroom = 0;
  for (const PlanPort& port : plan.ports) mtu = std::max(mtu, port.mtu);
  for (const TopologyPath& path : planning.topology.paths) {
    const std::vector<Member> members = members_of(planning, path);
    tailroom = std::max(tailroom, sum_of(members, &KnownFunction::tailroom).bytes);
    check_headroom(planning, path, members);
  }
  plan.buffer_stride = stride_for(mtu, tailroom);
  for (const PlanStream& stream : plan.streams) {
    if (stream.queue != 0) continue;  // the other queues of its port lead where this one does
    for (const PlanStreamPath& at : stream.paths) {
      const TopologyPath& path = planning.topology.paths[at.path];
      const std::vector<Member> members = members_of(planning, path);
      check_mtu(planning, path, members, plan.ports[stream.port], plan.ports[at.output]);
      check_replay(planning, path, members, plan.ports[stream.port]);
    }
  }
}

}  // namespace millrace
