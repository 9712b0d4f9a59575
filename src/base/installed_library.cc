// SPDX-License-Identifier: MIT
// See installed_library.h.
#include "base/installed_library.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

namespace penna {

Result<std::string> installed_library(std::string_view name) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return Error{"cannot determine where this program is installed: is /proc mounted?"};
  // PENNA_LIB_FROM_BIN: the path from the folder of programs to that of libraries, as CMake installs them.
  const auto installed = (self.parent_path() / PENNA_LIB_FROM_BIN).lexically_normal();
  const auto built = self.parent_path().parent_path() / "lib";
  // The installed one first. In a build tree that path does not exist, or not below the same prefix.
  for (const auto& folder : {installed, built}) {
    std::string path = (folder / name).string();
    if (::access(path.c_str(), R_OK) != 0) continue;
    // LD_PRELOAD separates its entries by spaces and colons and cannot quote them, see ld.so(8).
    if (path.find_first_of(" :") == std::string::npos) return path;
    return Error{fmt::format(
        "the dynamic linker cannot preload a library whose path contains a space or a colon: move Penna out of {}",
        path)};
  }
  return Error{fmt::format("cannot find {} in {}: install all of Penna below one prefix", name, installed.string())};
}

}  // namespace penna
