// SPDX-License-Identifier: MIT
// mutex_trace CMD...: runs CMD and records its locks into mutex-PID.penna, here; mutex_ft2csv shows them.
//
// Invariant: CMD's input, output and exit status are the same as without us; FT_STAY_SILENT suppresses our own lines.
#include <cstdio>
#include <cstdlib>

#include "base/printable.h"
#include "cli/verbs/cmd_record.h"
#include "options/arguments.h"
#include "options/record_options.h"

namespace penna {
namespace {

Result<Parsed<RecordOptions>> parse(const Arguments& arguments) {
  std::vector<std::string> command;
  OptionParser parser(
      "Runs CMD and records when it acquires and releases locks, into mutex-PID.penna in this directory. mutex_ft2csv "
      "prints "
      "its critical sections; penna report tells who waited for whom. With FT_STAY_SILENT in the environment nothing "
      "is said "
      "but errors.",
      "mutex_trace");
  parser.command(command);
  const std::string help = PENNA_TRY(parser.parse(arguments));
  if (!help.empty()) return Parsed<RecordOptions>{{}, help};
  if (command.empty()) return Error{"a command to run is missing"};
  Arguments to_record = {"-k", "locks", "--"};
  to_record.insert(to_record.end(), command.begin(), command.end());
  Parsed<RecordOptions> parsed = PENNA_TRY(parse_record(to_record));
  parsed.options.stem = "mutex-";
  parsed.options.quiet = std::getenv("FT_STAY_SILENT") != nullptr;
  return parsed;
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  const auto parsed = penna::parse({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!parsed) {
    std::fputs(
        ("mutex_trace: " + penna::printable(parsed.error().text) + "; 'mutex_trace --help' shows what is possible\n")
            .c_str(),
        stderr);
    return penna::kOurFailure;
  }
  if (parsed->help.empty()) return penna::cmd_record(parsed->options);
  std::fputs(parsed->help.c_str(), stdout);
  return 0;
}
