// SPDX-License-Identifier: MIT
// See find_program.h.
#include "base/find_program.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace penna {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace

// Like execvp(3): an empty entry of PATH is the current directory. Without a PATH the directories are guessed.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// A word with a slash is a path, whether or not it exists: opening it then gives the error.
std::string program_path(const std::string& word) {
  return word.find('/') != std::string::npos || exists(word) ? word : find_program(word);
}

Error no_such_program(const std::string& word) {
  return Error{fmt::format("there is no file '{}' in this directory and no program of that name", word)};
}

}  // namespace penna
