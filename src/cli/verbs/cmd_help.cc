// SPDX-License-Identifier: MIT
// penna help [VERB]: the verbs, or what a verb itself says to --help.
#include <fmt/format.h>

#include <cstdio>

#include "cli/verbs.h"

namespace penna {
namespace {

// The verbs come from the table in verbs.cc, which is also what main() dispatches on: none can be
// left out.
std::string overview() {
  std::string text =
      "Penna records what a program does: the calls it makes, the memory it allocates, the locks it waits for, and "
      "the\n"
      "points its authors left in it, each with its stack, on one clock.\n\n"
      "  penna CMD...                       record a command, then show a short report\n";
  for (const Verb& verb : verbs())
    text += fmt::format("  penna {:<29}{}\n", fmt::format("{} {}", verb.name, verb.usage), verb.summary);
  text +=
      "\nREC is a recording; without it the newest *.penna of the current directory is taken.\n"
      "The exit status is that of the command; our own failures are 125, 126 (cannot be run) and 127 (not found).\n";
  return text;
}

}  // namespace

// "penna help VERB" runs the verb with --help, so that there is one text for both.
int help_verb(const Arguments& arguments) {
  if (arguments.empty() || arguments[0] == "help" || arguments[0][0] == '-') {
    std::fputs(overview().c_str(), stdout);
    return 0;
  }
  if (const Verb* verb = find_verb(arguments[0])) return verb->run({"--help"});
  return fail(fmt::format("there is no verb '{}'; 'penna help' lists them", arguments[0]));
}

}  // namespace penna
