// SPDX-License-Identifier: MIT
// See installed_library.h.
#include "cli/installed_library.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

namespace penna {

Result<std::string> installed_library(std::string_view name) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return Error{"cannot determine where this program is installed: is /proc mounted?"};
  const auto installed = (self.parent_path() / PENNA_LIB_FROM_BIN).lexically_normal();
  const auto built = self.parent_path().parent_path() / "lib";
  for (const auto& folder : {installed, built}) {
    std::string path = (folder / name).string();
    if (::access(path.c_str(), R_OK) != 0) continue;
    if (path.find_first_of(" :") == std::string::npos) return path;
    return Error{fmt::format(
        "the dynamic linker cannot preload a library whose path contains a space or a colon: move Penna out of {}",
        path)};
  }
  return Error{fmt::format("cannot find {} in {}: install all of Penna below one prefix", name, installed.string())};
}

}  // namespace penna
