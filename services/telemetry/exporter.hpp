// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/collectable.h>

#include <memory>
#include <string>

#include "services/telemetry/http_server.hpp"

namespace millrace {

/// The file in the run directory that says where to scrape: "127.0.0.1:43210" and a newline.
std::string telemetry_address_path(const std::string& run_dir);

/// The HTTP side: GET and HEAD of /metrics. Neither slow readers nor connections that ask nothing
/// hold up a scrape (http_server.hpp).
class Exporter {
 public:
  /// Listens on `listen` ("127.0.0.1:9090", "[::1]:9090"; port 0: any free one) and writes the
  /// address into `run_dir`. After a restart it takes the port from before if that is free, so that
  /// a scraper's target stays the same. Throws Error.
  Exporter(const std::string& listen, const std::string& run_dir);

  /// Writes the file by which Prometheus finds `topology` (shared/control/discovery_file.hpp).
  /// Readable by all users: Prometheus may be another user. Throws Error.
  void announce(const std::string& topology) const;

  /// Begins to serve /metrics, which is not found before. At most once.
  void serve(std::shared_ptr<const prometheus::Collectable> metrics);
  /// "address:port" with the port in use.
  const std::string& address() const { return address_; }

 private:
  static std::unique_ptr<HttpServer> listen_on(const std::string& address);

  std::unique_ptr<HttpServer> server_;
  std::string run_dir_, address_;
};

}  // namespace millrace
