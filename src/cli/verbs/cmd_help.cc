// SPDX-License-Identifier: MIT
// penna help [VERB]: the verbs, or a verb's own --help.
#include <fmt/format.h>

#include "cli/verbs.h"
#include "options/help_page.h"
#include "options/terminal.h"

namespace penna {
namespace {

// The verbs come from the table in verbs.cc, which main() dispatches on: none can be missing.
std::string overview() {
  const size_t width = text_width(1);
  constexpr size_t kColumn = 37;
  std::string text;
  add_paragraph(text,
                "Penna records what a program does: the calls it makes, the memory it allocates, the locks it waits "
                "for, and the points its authors left in it, each with its stack, on one clock.",
                width);
  text += "\n";
  add_term(text, "penna CMD...", "record a command, then show a short report", width, kColumn);
  for (const Verb& verb : verbs())
    add_term(text, fmt::format("penna {} {}", verb.name, verb.usage), verb.summary, width, kColumn);
  text += "\n";
  add_paragraph(text,
                "REC is a recording; without it the newest *.penna of the current directory is taken. The exit status "
                "is that of the command; our own failures are 125, 126 (cannot be run) and 127 (not found).",
                width);
  return text;
}

struct HelpOptions {
  std::string verb;
  bool all = false;
};

Result<Parsed<HelpOptions>> parse_help(const Arguments& arguments) {
  Parsed<HelpOptions> parsed;
  OptionParser parser("Lists the verbs, or all options of one.", "penna help");
  parser.word("VERB", parsed.options.verb, "one of those that 'penna help' lists");
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  parser.known(std::move(names));
  parser.flag("--all", parsed.options.all, "all options of the verb, not only the common ones");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

// "penna help VERB" runs the verb with --help, so that there is one text for both.
int cmd_help(const HelpOptions& options) {
  if (options.verb.empty()) return print(overview());
  if (const Verb* verb = find_verb(options.verb)) {
    return verb->run(options.all ? Arguments{"--help", "--all"} : Arguments{"--help"});
  }
  return fail("help", no_such_verb_text(options.verb));
}

}  // namespace

int help_verb(const Arguments& arguments) { return run_parsed("help", parse_help(arguments), cmd_help); }

}  // namespace penna
