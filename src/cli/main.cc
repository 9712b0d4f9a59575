// SPDX-License-Identifier: MIT
// penna: a table of verbs. A word that is not a verb is a command to record.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/say.h"
#include "cli/build_facts.h"
#include "cli/settings_files.h"
#include "cli/verbs.h"
#include "penna/version.h"
#include "symbols/elf/debug_files.h"

namespace penna {
namespace {

// A closed standard descriptor would be assigned to the next opened file, and a message for stderr written into a
// recording. CLOEXEC: the recorded program finds it closed, as without us. Not for writing: output that goes nowhere
// must fail, as on a full disk.
void hold_standard_descriptors() {
  int fd;
  do fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

// A write beyond the file size limit (ulimit -f) then fails, as on a full disk, instead of killing a verb without a
// word. Not SIG_IGN: a started program would inherit it.
void survive_file_size_limit() {
  struct sigaction action {};
  ::sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

// For std::terminate(), in any thread: memory or threads ran out. What was being written stays as after a crash.
[[noreturn]] void end_out_of_resources() {
  try {
    if (const std::exception_ptr exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText = "penna: out of memory: allow more (ulimit -v), or choose a part with -r or -F\n";
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());  // say() needs memory
    ::_exit(kOurFailure);
  } catch (const std::system_error& error) {
    say(fmt::format("cannot start a thread: {}; allow more memory (ulimit -v) or processes (ulimit -u)",
                    errno_text(error.code().value())));
    ::_exit(kOurFailure);
  } catch (...) {
  }
  std::abort();
}

int run(const Arguments& arguments) {
  if (arguments.empty()) {
    help_verb({});
    return kOurFailure;
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h") return help_verb({});
  if (first == "--version" || first == "-V") {
    const bool all = arguments.size() > 1 && (arguments[1] == "-v" || arguments[1] == "--verbose");
    return print("penna " PENNA_VERSION "\n" + (all ? build_facts() : std::string()));
  }
  if (const Verb* verb = find_verb(first)) return verb->run({arguments.begin() + 1, arguments.end()});
  // Only for a word that is not a program: "penna ls" must record ls, though it resembles "list".
  if (const Verb* similar = similar_verb(first))
    return fail(fmt::format("there is no verb and no program '{}'; did you mean 'penna {}'?", first, similar->name));
  return command_verb(arguments);
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  penna::hold_standard_descriptors();
  penna::survive_file_size_limit();
  std::set_terminate(penna::end_out_of_resources);
  penna::use_settings(penna::settings_of_verb);
  const int status = penna::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  // Here, because every verb may query servers, and only after all look-ups is it known what they did not provide.
  if (const std::string failures = penna::debuginfod_failures(); !failures.empty()) penna::say(failures);
  return status;
}
