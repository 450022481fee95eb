// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_rib.hpp"

#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_rib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "services/functions/builder/private_eal.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// rte_rib objects are found by name: each needs its own.
std::string next_name() {
  static std::atomic<unsigned> number{0};
  return "route" + std::to_string(number++);
}

RibRoute read_node(const rte_rib_node* node) {
  RibRoute route;
  std::uint64_t hop = 0;
  rte_rib_get_ip(node, &route.prefix);
  rte_rib_get_depth(node, &route.length);
  rte_rib_get_nh(node, &hop);
  route.hop = static_cast<std::uint32_t>(hop);
  return route;
}

rte_rib_node* insert_node(rte_rib* rib, const RibRoute& route) {
  rte_rib_node* node = rte_rib_insert(rib, route.prefix, route.length);
  if (node == nullptr) throw system_error("insert a route", rte_errno);
  rte_rib_set_nh(node, route.hop);
  return node;
}

}  // namespace

void RouteRib::Free::operator()(rte_rib* rib) const { rte_rib_free(rib); }

RouteRib::RouteRib(std::size_t prefix_count_max) {
  start_private_eal();
  rte_rib_conf conf{};
  conf.ext_sz = sizeof(std::uint32_t);
  // A prefix may need one inner node beside its own.
  conf.max_nodes = static_cast<int>(2 * prefix_count_max + 2);
  rib_.reset(rte_rib_create(next_name().c_str(), SOCKET_ID_ANY, &conf));
  if (rib_ == nullptr) {
    throw system_error("create a RIB for " + std::to_string(prefix_count_max) + " prefixes",
                       rte_errno);
  }
}

bool RouteRib::insert(const RibRoute& route, std::uint32_t tag, std::uint32_t& first_tag) {
  if (rte_rib_node* node = rte_rib_lookup_exact(rib_.get(), route.prefix, route.length)) {
    std::memcpy(&first_tag, rte_rib_get_ext(node), sizeof first_tag);
    return false;
  }
  std::memcpy(rte_rib_get_ext(insert_node(rib_.get(), route)), &tag, sizeof tag);
  return true;
}

void RouteRib::replace(const RibRoute& route) {
  rte_rib_node* node = rte_rib_lookup_exact(rib_.get(), route.prefix, route.length);
  if (node != nullptr) {
    rte_rib_set_nh(node, route.hop);
  } else {
    insert_node(rib_.get(), route);
  }
}

std::vector<RibRoute> RouteRib::by_length() const {
  std::vector<RibRoute> routes;
  // 0.0.0.0/0 covers the walk and is therefore no part of it.
  if (const rte_rib_node* root = rte_rib_lookup_exact(rib_.get(), 0, 0)) {
    routes.push_back(read_node(root));
  }
  rte_rib_node* node = nullptr;
  while ((node = rte_rib_get_nxt(rib_.get(), 0, 0, node, RTE_RIB_GET_NXT_ALL)) != nullptr) {
    routes.push_back(read_node(node));
  }
  std::ranges::stable_sort(routes, {}, &RibRoute::length);
  return routes;
}

}  // namespace millrace
