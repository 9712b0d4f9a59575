// SPDX-License-Identifier: MIT
// See build_facts.h. For loaded libraries, the version loaded; for those compiled in, theirs.
#include "cli/build_facts.h"

#include <Zydis/Zydis.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <toml++/toml.h>
#include <CLI/Version.hpp>
#include <protozero/version.hpp>

#include "commit.h"
#include "penna/version.h"
#include "recording/layout.h"

namespace penna {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string libraries() {
  const unsigned xxhash = XXH_versionNumber();
  const uint64_t zydis = ZydisGetVersion();
  const std::string fmt_version =
      fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  return fmt::format(
      "glibc {}, elfutils {}, zstd {}, xxhash {}.{}.{}, zlib {}, lzma {}, fmt {}, Zydis {}.{}.{}, "
      "CLI11 {}, toml++ {}.{}.{}, protozero {}",
      ::gnu_get_libc_version(), ::dwfl_version(nullptr), ::ZSTD_versionString(), xxhash / 10000, xxhash / 100 % 100,
      xxhash % 100, ::zlibVersion(), ::lzma_version_string(), fmt_version, ZYDIS_VERSION_MAJOR(zydis),
      ZYDIS_VERSION_MINOR(zydis), ZYDIS_VERSION_PATCH(zydis), CLI11_VERSION, TOML_LIB_MAJOR, TOML_LIB_MINOR,
      TOML_LIB_PATCH, PROTOZERO_VERSION_STRING);
}

}  // namespace

std::string build_facts() {
  std::string text;
  const auto add = [&text](const char* name, const std::string& fact) {
    text += fmt::format("{:<11}{}\n", name, fact);
  };
  if (*PENNA_COMMIT != '\0') add("commit", PENNA_COMMIT);
  add("compiler", compiler());
  add("libraries", libraries());
  add("symbols", "ELF and DWARF by elfutils; debuginfod where its library is installed");
  add("carriers", "preload, inject (-p), breakpoint");
  add("recordings", fmt::format("written in version {}, read from {} on", layout::kVersion, layout::kOldestVersion));
  return text;
}

}  // namespace penna
