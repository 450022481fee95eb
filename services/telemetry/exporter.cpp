// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/exporter.hpp"

#include <prometheus/text_serializer.h>

#include <cstddef>
#include <fstream>
#include <span>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/control/discovery_file.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

std::string host_of(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

/// The address that an earlier process wrote, if it fits `listen`; else `listen`.
std::string address_of_before(const std::string& listen, const std::string& run_dir) {
  std::ifstream file(telemetry_address_path(run_dir));
  std::string before;
  const bool any_port = listen.ends_with(":0");
  return any_port && file >> before && host_of(before) == host_of(listen) ? before : listen;
}

}  // namespace

std::string telemetry_address_path(const std::string& run_dir) {
  return run_dir + "/telemetry.address";
}

std::unique_ptr<HttpServer> Exporter::listen_on(const std::string& address) {
  try {
    return std::make_unique<HttpServer>(address);
  } catch (const Error& error) {
    throw Error("telemetry cannot listen on " + address + ": " + error.what() +
                "; `telemetry: { listen: \"127.0.0.1:0\" }` takes any free port");
  }
}

Exporter::Exporter(const std::string& listen, const std::string& run_dir) : run_dir_(run_dir) {
  const std::string before = address_of_before(listen, run_dir);
  try {
    server_ = listen_on(before);
  } catch (const Error&) {
    if (before == listen) throw;
    server_ = listen_on(listen);  // another process took the old port meanwhile
  }
  address_ = host_of(listen) + ":" + std::to_string(server_->port());
  const std::string line = address_ + "\n";
  write_whole_file(telemetry_address_path(run_dir), std::as_bytes(std::span(line)));
}

void Exporter::announce(const std::string& topology) const {
  write_discovery(run_dir_, topology, address_);
}

void Exporter::serve(std::shared_ptr<const prometheus::Collectable> metrics) {
  server_->serve("/metrics", "text/plain; version=0.0.4; charset=utf-8",
                 [metrics = std::move(metrics)] {
                   return prometheus::TextSerializer().Serialize(metrics->Collect());
                 });
}

}  // namespace millrace
