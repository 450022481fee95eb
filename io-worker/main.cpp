// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/io_worker.hpp"

namespace millrace {
namespace {

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace io-worker: an ingress or an egress, as the plan says");
  run_io_worker(process);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-io-worker", millrace::run, argc, argv);
}
