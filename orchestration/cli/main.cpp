// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "shared/base/nearest.hpp"

namespace {

/// A first word that is no command: CLI11 would say only that one is needed.
void refuse_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  const std::string near = millrace::nearest_of(word, names);
  throw CLI::ValidationError("no command '" + word + "'" +
                             (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

/// What a command says is its result: a full disk or device behind it is a failure.
int written(int status) {
  const bool whole = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (whole || status != 0) return status;
  // What failed has not kept its error; one more write has the same.
  const bool again = ::write(STDOUT_FILENO, "\n", 1) < 0;
  std::cerr << "millrace: not all of this could be written to standard output"
            << (again ? std::string(": ") + strerrordesc_np(errno) : "") << '\n';
  return millrace::kExitInvalid;
}

/// Descriptors 0 to 2 that are closed would become those of whatever is opened next, and what is
/// said would be written there. Writes to a standard output that was closed go on failing.
void fill_standard_descriptors() {
  for (const int wanted : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(wanted, F_GETFD) >= 0) continue;
    const int flags = wanted == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest number that is free: this one.
    if (::open("/dev/null", flags) != wanted) std::abort();
  }
}

}  // namespace

/// `millrace`: every command that there is stands in this list.
int main(int argc, char** argv) {
  fill_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of a write, as a full disk is
  CLI::App app{"Millrace: a middlebox made of processes."};
  app.name("millrace");
  app.require_subcommand(1);
  app.set_version_flag("--version", "millrace " MILLRACE_VERSION);
  millrace::add_validate(app);
  millrace::add_plan(app);
  millrace::add_rules(app);
  millrace::add_try(app);
  millrace::add_up(app);
  millrace::add_adopt(app);
  millrace::add_status(app);
  millrace::add_top(app);
  millrace::add_logs(app);
  millrace::add_events(app);
  millrace::add_alerts(app);
  millrace::add_capture(app);
  millrace::add_trace(app);
  millrace::add_flows(app);
  millrace::add_follow(app);
  millrace::add_neighbours(app);
  millrace::add_routes(app);
  millrace::add_audit(app);
  millrace::add_report(app);
  millrace::add_scale(app);
  millrace::add_function(app);
  millrace::add_reload(app);
  millrace::add_apply(app);
  millrace::add_upgrade(app);
  millrace::add_history(app);
  millrace::add_bypass(app);
  millrace::add_drain(app);
  millrace::add_down(app);
  millrace::add_keys(app);
  millrace::add_doctor(app);
  try {
    if (argc > 1) refuse_unknown(app, argv[1]);
    app.parse(argc, argv);
    return written(0);
  } catch (const CLI::RuntimeError& failure) {
    return failure.get_exit_code();
  } catch (const CLI::ParseError& error) {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const bool json = std::ranges::find(words, std::string_view("--json")) != words.end();
    if (!json || error.get_exit_code() == 0) {
      return written(app.exit(error) == 0 ? 0 : millrace::kExitUsage);
    }
    millrace::print_failure(millrace::Error(error.what()), millrace::Format::kJson, false,
                            std::cout);
    return millrace::kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "millrace: " << error.what() << '\n';
    return millrace::kExitInvalid;
  }
}
