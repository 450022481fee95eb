// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "services/functions/image_file.hpp"
#include "services/functions/route/ipv6_address.hpp"
#include "services/functions/route/route_build.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_reason.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {

/// A folder of this process's own in shared memory, where images live; removed with the object.
class RouteFolder {
 public:
  RouteFolder() {
    static int number = 0;
    path_ = std::filesystem::path("/dev/shm") /
            ("millrace-route-test-" + std::to_string(getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directory(path_);
  }
  RouteFolder(const RouteFolder&) = delete;
  RouteFolder& operator=(const RouteFolder&) = delete;
  ~RouteFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Ports "lan" (10.1.0.1/24, MAC ...:0a) and "wan" (192.0.2.2/30, MAC ...:0b).
inline std::vector<PlanPort> two_ports() {
  return {
      {.name = "lan",
       .device = "null",
       .mac = "02:00:00:00:00:0a",
       .addresses = {"10.1.0.1/24", "2001:db8::1/64"}},
      {.name = "wan", .device = "null", .mac = "02:00:00:00:00:0b", .addresses = {"192.0.2.2/30"}}};
}

/// Of kRouteReasons, as a plan numbers them.
inline const std::vector<std::uint8_t>& route_reason_numbers() {
  static const std::vector<std::uint8_t> kNumbers = [] {
    std::vector<PlanReason> reasons;
    number_reasons(reasons, kRouteReasons);
    return reason_numbers(reasons, kRouteReasons);
  }();
  return kNumbers;
}
inline Reason numbered(RouteReason why) {
  return static_cast<Reason>(route_reason_numbers().at(static_cast<std::size_t>(why)));
}

/// Of a text that is an address.
inline Ipv6Address ipv6(const char* text) {
  Ipv6Address address;
  if (!parse_ipv6(text, address)) throw std::invalid_argument(text);
  return address;
}

/// A table built from text and mapped.
class BuiltRoutes {
 public:
  explicit BuiltRoutes(const std::string& text, std::vector<PlanPort> ports = two_ports(),
                       const std::string& answers = "false", bool follows_kernel = false,
                       bool on_device = false)
      : ports_(std::move(ports)), on_device_(on_device) {
    std::ofstream(folder_.file("routes.txt")) << text;
    function_.name = "route";
    function_.type = "route";
    function_.settings = {{"table", folder_.file("routes.txt")}, {"answers", answers}};
    if (follows_kernel) function_.settings.emplace_back("routes", "kernel");
    function_.image = folder_.file("route.img");
    report_ = build_route_image(context());
    image_ = std::make_unique<MappedImage>(function_.image, kRouteImage);
    table_ = view_route_image(image_->bytes());
  }
  FunctionContext context() const {
    return {.function = function_, .ports = ports_, .on_device = on_device_};
  }
  const PlanFunction& function() const { return function_; }
  const std::string& path() const { return function_.image; }
  const RouteTable& table() const { return table_; }
  const BuildReport& report() const { return report_; }
  const RouteHop& hop_of(std::uint32_t address) const {
    return table_.hops[table_.look_up(address)];
  }
  const RouteHop& hop_of(Ipv6Address address) const {
    return table_.hops[table_.ipv6.look_up(address)];
  }

 private:
  RouteFolder folder_;
  std::vector<PlanPort> ports_;
  bool on_device_;
  PlanFunction function_;
  BuildReport report_;
  std::unique_ptr<MappedImage> image_;
  RouteTable table_;
};

}  // namespace millrace
