// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"

/// `millrace`: every command that there is stands in this list.
int main(int argc, char** argv) {
  CLI::App app{"Millrace: a middlebox made of processes."};
  app.name("millrace");
  app.require_subcommand(1);
  millrace::add_validate(app);
  millrace::add_plan(app);
  millrace::add_try(app);
  millrace::add_up(app);
  millrace::add_adopt(app);
  millrace::add_status(app);
  millrace::add_top(app);
  millrace::add_logs(app);
  millrace::add_capture(app);
  millrace::add_trace(app);
  millrace::add_audit(app);
  millrace::add_report(app);
  millrace::add_scale(app);
  millrace::add_function(app);
  millrace::add_reload(app);
  millrace::add_apply(app);
  millrace::add_upgrade(app);
  millrace::add_history(app);
  millrace::add_bypass(app);
  millrace::add_down(app);
  millrace::add_keys(app);
  millrace::add_doctor(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& failure) {
    return failure.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : millrace::kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "millrace: " << error.what() << '\n';
    return millrace::kExitInvalid;
  }
}
