// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route.hpp"

#include <array>
#include <memory>
#include <string>

#include "services/functions/function_in_parts.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/route/route_build.hpp"
#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_gpu.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/route_settings.hpp"
#include "services/functions/route/router.hpp"
#include "shared/base/error.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"
#include "shared/packet/neighbour_discovery.hpp"

namespace millrace {
namespace {

class Route final : public FunctionInParts {
 public:
  explicit Route(const FunctionContext& context)
      : image_(context.function.image, kRouteImage),
        table_(view_route_image(image_.bytes())),
        hops_(table_, context.ports),
        groups_(table_, route_flow_seed(context.ports)) {
    const RouteSettings settings = route_settings(context.function);
    // Without ports (`millrace try`) there is nothing to answer for.
    if (settings.answers && !context.ports.empty()) {
      router_ = std::make_unique<Router>(table_, context.ports, settings);
    }
  }

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    route_compute(table_, batch, selected.packets, results);
  }

  void compute_part(const Batch& batch, Selection part, const Frames& frames,
                    std::span<std::uint32_t> results) noexcept override {
    route_compute(table_, batch, part.packets, frames, results);
  }

  void finish(const FinishContext& call) noexcept override { finish_at(call, nullptr); }
  void finish_part(const FinishContext& part, const Frames& frames) noexcept override {
    finish_at(part, &frames);
  }

 private:
  void finish_at(const FinishContext& call, const Frames* frames) noexcept {
    hops_.refresh();
    route_finish(hops_.rewrites(), call, router_.get(), groups_, hops_.now(), frames);
    if (router_ && !router_->vlans().empty()) [[unlikely]]
      finish_vlans(call);
  }

  /// Looked up again, without their tags.
  void finish_vlans(const FinishContext& call) noexcept {
    while (!router_->vlans().empty()) {
      const RouterVlans::Group group = router_->vlans().next();
      BatchFacts facts = call.facts;
      facts.port_in = group.port;
      route_compute(table_, call.batch, group.packets, words_);
      const FinishContext one{call.batch, {group.packets}, words_,      call.counters,
                              call.state, facts,           call.events, call.reason_numbers};
      hops_.refresh();
      route_finish(hops_.rewrites(), one, router_.get(), groups_, hops_.now());
    }
  }

  MappedImage image_;
  RouteTable table_;
  RouteHops hops_;
  RouteGroups groups_;
  std::unique_ptr<Router> router_;  ///< null: without answers
  std::array<std::uint32_t, kBatchCapacityMax> words_{};
};

void check_settings(const PlanFunction& function) { route_settings(function); }

std::unique_ptr<Function> make_route(const FunctionContext& context) {
  check_settings(context.function);
  return while_doing("function " + context.function.name,
                     [&] { return std::make_unique<Route>(context); });
}

/// So that what a worker would refuse is told before one starts. Without ports (`millrace try`)
/// nothing is answered.
void check_ports(const RouteSettings& settings, std::span<const PlanPort> ports) {
  for (const std::string& name : settings.proxy_arp) number_of_port("proxy_arp", name, ports);
  const RouterPorts known(ports);
  TokenBucket limit(0, 0);
  const RouterAdvertiser advertiser(known, ports, settings.advertise, limit);
}

BuildReport build_route(const FunctionContext& context) {
  const RouteSettings settings = route_settings(context.function);
  return while_doing("function " + context.function.name, [&] {
    if (!context.ports.empty()) check_ports(settings, context.ports);
    return build_route_image(context);
  });
}

constexpr std::array kRegions = {Region{Region::Start::kFrame, kRouteBytesRead, kRouteBytesUsual}};

/// An ICMP error stands in front of what it quotes. Those of IPv6 are the longer ones.
constexpr std::uint32_t kErrorHeadroom = kIcmpv6ErrorFrontBytes - packet_walk::kEthernetBytes;
static_assert(kIcmpv6ErrorFrontBytes > kIcmpErrorFrontBytes);
/// An advertisement names a MAC address, which the solicitation of a probe does not.
constexpr std::uint32_t kAnswerTailroom =
    kNeighbourFrameBytes - (packet_walk::kEthernetBytes + packet_walk::kIpv6Bytes + 24);

}  // namespace

FunctionType route_type() {
  return {.traits = {.type = "route",
                     .summary =
                         "IPv4 and IPv6 longest prefix match: TTL, checksum, MAC rewrite, output",
                     .regions = kRegions,
                     .runs_on_gpu = true,
                     .has_image = true,
                     .reasons = kRouteReasons,
                     .rewrites = Rewrites::kHeaders,
                     .headroom = kErrorHeadroom,
                     .tailroom = kAnswerTailroom,
                     .settings = known_route_settings()},
          .make = make_route,
          .build = build_route,
          .check = check_settings,
          .upload = upload_route};
}

}  // namespace millrace
