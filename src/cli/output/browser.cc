// SPDX-License-Identifier: MIT
// See browser.h.
#include "cli/output/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/file.h"

namespace penna {
namespace {

// With the mask, in its own session: Ctrl-C in our terminal is not meant for it.
bool spawn_quietly(const char* program, const std::string& argument, const sigset_t& mask) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int fd : {1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  std::string words[] = {program, argument};
  char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t pid = 0;
  const bool spawned = ::posix_spawnp(&pid, program, &actions, &attributes, arguments, environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return spawned;
}

}  // namespace

bool Browser::open(const std::string& address, const sigset_t& mask) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const char* directory = std::getenv("XDG_RUNTIME_DIR");
  constexpr std::string_view kSuffix = ".html";
  std::string path = fmt::format("{}/penna-view-XXXXXX{}", directory != nullptr ? directory : "/tmp", kSuffix);
  const Fd file(::mkostemps(path.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC));  // 0600
  if (!file) return false;
  path_ = path;
  return write_all(file, fmt::format("<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"
                                     "<meta http-equiv=refresh content=\"0; url={}\"><title>penna</title>\n",
                                     address)) &&
         spawn_quietly("xdg-open", path_, mask);
}

Browser::~Browser() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace penna
