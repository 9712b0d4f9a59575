// SPDX-License-Identifier: MIT
// penna: a table of verbs. What is no verb is a command to record.
#include <fmt/format.h>

#include <cstdio>

#include "cli/verbs.h"

namespace penna {
namespace {

int run(const Arguments& arguments) {
  if (arguments.empty()) {
    help_verb({});
    return kOurFailure;
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h") return help_verb({});
  if (first == "--version" || first == "-V") {
    std::puts("penna " PENNA_VERSION);
    return 0;
  }
  if (const Verb* verb = find_verb(first)) return verb->run({arguments.begin() + 1, arguments.end()});
  if (const Verb* similar = similar_verb(first))
    return fail(fmt::format("there is no verb and no program '{}'; did you mean 'penna {}'?", first, similar->name));
  return command_verb(arguments);
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) { return penna::run({argv + (argc > 0 ? 1 : 0), argv + argc}); }
