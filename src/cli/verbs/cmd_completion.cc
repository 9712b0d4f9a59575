// SPDX-License-Identifier: MIT
// penna completion SHELL: the completion script for that shell. It calls `penna completion words INDEX WORD...`, with
// all words after "penna", which prints a candidate per line, with a tab before its description; ":files" and similar
// lines are for the shell (completion.h).
#include <cstdlib>

#include "base/nearest_name.h"
#include "cli/complete/completion.h"
#include "cli/complete/scripts.h"
#include "cli/verbs.h"

namespace penna {
namespace {

int print_words(const Arguments& arguments) {
  const Arguments line(arguments.begin() + 2, arguments.end());
  const Completion completion = complete_line(line, std::strtoul(arguments[1].c_str(), nullptr, 10));
  for (const Candidate& candidate : completion.candidates)
    std::printf("%s\t%s\n", candidate.word.c_str(), candidate.about.c_str());
  if (!completion.by_shell.empty()) std::printf(":%s\n", completion.by_shell.c_str());
  return 0;
}

struct CompletionOptions {
  std::string shell;
};

Result<Parsed<CompletionOptions>> parse_completion(const Arguments& arguments) {
  Parsed<CompletionOptions> parsed;
  OptionParser parser(
      "Prints a script that makes a shell complete the command line of penna: verbs, options, values, recordings, and "
      "functions of the program. Where penna is installed, shells find it themselves.",
      "penna completion");
  parser.word("SHELL", parsed.options.shell, "bash, zsh or fish", OptionParser::Need::kRequired);
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  parser.known(shells);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (parsed.help.empty() && completion_script(parsed.options.shell) == nullptr)
    return Error{there_is_no("shell", parsed.options.shell, shells)};
  return parsed;
}

int cmd_completion(const CompletionOptions& options) { return print(completion_script(options.shell)); }

}  // namespace

int completion_verb(const Arguments& arguments) {
  // The words at a cursor are not our command line, and may look like anything.
  if (arguments.size() >= 2 && arguments[0] == "words") return print_words(arguments);
  return run_parsed("completion", parse_completion(arguments), cmd_completion);
}

}  // namespace penna
