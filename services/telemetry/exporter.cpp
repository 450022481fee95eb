// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/exporter.hpp"

#include <civetweb.h>
#include <prometheus/text_serializer.h>

#include <cstddef>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/control/discovery_file.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

// Who connects and asks nothing (a browser does, and whoever looks for open ports) holds a thread
// for so long, and others' scrapes are not to wait for him.
constexpr const char* kThreads = "16";
constexpr const char* kPatienceMs = "2000";

std::string host_of(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

/// What an earlier life wrote, if it fits `listen`; else `listen`.
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

void Exporter::Stop::operator()(mg_context* server) const { mg_stop(server); }

Exporter::Server Exporter::listen_on(const std::string& address) {
  const char* options[] = {"listening_ports",    address.c_str(), "num_threads", kThreads,
                           "request_timeout_ms", kPatienceMs,     nullptr};
  const mg_callbacks callbacks{};
  Server server(mg_start(&callbacks, nullptr, options));
  if (server) return server;
  throw Error("telemetry cannot listen on " + address +
              "; `telemetry: { listen: \"127.0.0.1:0\" }` takes any free port");
}

int Exporter::answer(mg_connection* connection, void* exporter) {
  const std::string_view method = mg_get_request_info(connection)->request_method;
  if (method != "GET" && method != "HEAD") {
    mg_send_http_error(connection, 405, "%s", "GET and HEAD only");
    return 405;
  }
  const auto& metrics = *static_cast<const Exporter*>(exporter)->metrics_;
  const std::string text = prometheus::TextSerializer().Serialize(metrics.Collect());
  mg_printf(connection,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: %zu\r\nConnection: close\r\n\r\n",
            text.size());
  if (method == "GET") mg_write(connection, text.data(), text.size());
  return 200;
}

Exporter::Exporter(const std::string& listen, const std::string& run_dir) : run_dir_(run_dir) {
  const std::string before = address_of_before(listen, run_dir);
  try {
    server_ = listen_on(before);
  } catch (const Error&) {
    if (before == listen) throw;
    server_ = listen_on(listen);  // somebody else took it meanwhile
  }
  mg_server_port port{};
  if (mg_get_server_ports(server_.get(), 1, &port) != 1) throw Error("telemetry has no port");
  address_ = host_of(listen) + ":" + std::to_string(port.port);
  const std::string line = address_ + "\n";
  write_whole_file(telemetry_address_path(run_dir), std::as_bytes(std::span(line)));
}

void Exporter::announce(const std::string& topology) const {
  write_discovery(run_dir_, topology, address_);
}

void Exporter::serve(std::shared_ptr<const prometheus::Collectable> metrics) {
  metrics_ = std::move(metrics);
  mg_set_request_handler(server_.get(), "/metrics", answer, this);
}

}  // namespace millrace
