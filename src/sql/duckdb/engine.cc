// SPDX-License-Identifier: MIT
// See sql_engine.h.
#include "sql/duckdb/engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/find_program.h"
#include "base/installed_library.h"
#include "base/user_directories.h"

// clang-format off
__asm__(".pushsection .rodata\n"
        "penna_engine_package: .incbin \"" PENNA_ENGINE_PACKAGE "/package.json\"\n"
        "penna_engine_package_end:\n"
        "penna_engine_lock: .incbin \"" PENNA_ENGINE_PACKAGE "/package-lock.json\"\n"
        "penna_engine_lock_end:\n"
        ".popsection\n");
// clang-format on
extern "C" const char penna_engine_package[] __attribute__((visibility("hidden")));
extern "C" const char penna_engine_package_end[] __attribute__((visibility("hidden")));
extern "C" const char penna_engine_lock[] __attribute__((visibility("hidden")));
extern "C" const char penna_engine_lock_end[] __attribute__((visibility("hidden")));

namespace penna {
namespace {

// One directory a version: an older Penna beside this one keeps its own.
Result<std::string> engine_directory() {
  const std::optional<std::string> data = user_directory("XDG_DATA_HOME", ".local/share");
  if (!data) return Error{"neither XDG_DATA_HOME nor HOME names a directory for DuckDB: set one of them"};
  return fmt::format("{}/penna/duckdb-{}", *data, kDuckVersion);
}

bool is_there(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

Result<> write_private(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || !write_all(file, text)) return Error{fmt::format("cannot write {}: {}", path, errno_text(errno))};
  return ok();
}

// What npm says, as the rest of a sentence: without its prefix, and without lines that only help its developers.
std::string reason_of(std::string_view said) {
  constexpr std::string_view kPrefixes[] = {"npm ERR! ", "npm error "};
  constexpr std::string_view kLeftOut[] = {"errno ", "syscall ", "A complete log", "This is a problem related"};
  constexpr size_t kMost = 400;
  std::string reason;
  while (!said.empty() && reason.size() < kMost) {
    std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(std::min(said.size(), line.size() + 1));
    for (const std::string_view prefix : kPrefixes)
      if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    const auto begins = [&](std::string_view word) { return line.starts_with(word); };
    if (line.find_first_not_of(' ') == line.npos || line.starts_with("npm ") || std::ranges::any_of(kLeftOut, begins))
      continue;
    reason += (reason.empty() ? "" : "; ") + std::string(line);
  }
  return reason.empty() ? "it does not say why" : reason;
}

// npm with these words, its output into a file; the error contains what it says.
Result<> run_npm(const std::string& directory) {
  const std::string log = directory + "/npm.log";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::string words[] = {"npm",        "ci",        "--prefix",         directory,
                         "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, "npm", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0) return Error{fmt::format("cannot run npm: {}", errno_text(failed))};
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return ok();
  const Result<std::string> said = read_file(log);
  return Error{fmt::format("npm could not install DuckDB {}: {}", kDuckVersion, reason_of(said ? *said : ""))};
}

}  // namespace

Result<DuckApi> load_sql_engine() {
  const Result<std::string> packaged = installed_library(kDuckLibrary);
  if (packaged) return DuckApi::load(*packaged);
  const std::string path = fmt::format("{}/{}", PENNA_TRY(engine_directory()), kDuckLibrary);
  if (!is_there(path))
    return Error{"SQL needs DuckDB, which is not here: 'penna sql --install' gets it (24 MB, by npm), once"};
  return DuckApi::load(path);
}

Result<std::string> install_sql_engine() {
  const std::string directory = PENNA_TRY(engine_directory());
  const std::string path = fmt::format("{}/{}", directory, kDuckLibrary);
  if (is_there(path)) {
    PENNA_TRY(DuckApi::load(path));
    return path;
  }
  if (find_program("npm").empty())
    return Error{"npm is needed to get DuckDB and to check it: install the package npm, then try again"};
  PENNA_TRY(make_private_directories(directory));
  const Result<ScratchDirectory> scratch = ScratchDirectory::make_in(directory);
  if (!scratch) return Error{fmt::format("cannot write in {}: {}", directory, scratch.error().text)};
  PENNA_TRY(write_private(scratch->path() + "/package.json", {penna_engine_package, penna_engine_package_end}));
  PENNA_TRY(write_private(scratch->path() + "/package-lock.json", {penna_engine_lock, penna_engine_lock_end}));
  // npm compares what it gets with the checksum in the lock file.
  PENNA_TRY(run_npm(scratch->path()));
  const std::string got =
      fmt::format("{}/node_modules/@duckdb/node-bindings-linux-x64/{}", scratch->path(), kDuckLibrary);
  if (::chmod(got.c_str(), 0600) != 0 || ::rename(got.c_str(), path.c_str()) != 0)
    return Error{fmt::format("cannot move DuckDB to {}: {}", path, errno_text(errno))};
  PENNA_TRY(DuckApi::load(path));
  return path;
}

}  // namespace penna
