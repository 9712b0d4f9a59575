// SPDX-License-Identifier: MIT
// Debug files from debuginfod servers, only if the user asked for it.
//
// Why by dlopen: libdebuginfod brings curl and half a hundred libraries, and a tool that nobody asked to use the
// network should not even be able to. Invariant: without urls in the search this file does nothing at all; with them,
// every file that was asked for is given or reported (debuginfod_failures).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/fd.h"
#include "base/file.h"
#include "base/loaded_library.h"
#include "symbols/elf/debug_files.h"

namespace penna {
namespace {

// The part of libdebuginfod's interface that is used (elfutils/debuginfod.h, version 1).
struct Client {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  int (*find_debuginfo)(void*, const unsigned char*, int, char**) = nullptr;
  void (*set_progress)(void*, int (*)(void*, long, long)) = nullptr;
};

// Nothing where the system has none, or another one.
std::optional<Client> load_client() {
  LoadedLibrary library("libdebuginfod.so.1");
  Client client;
  library.find(client.begin, "debuginfod_begin");
  library.find(client.end, "debuginfod_end");
  library.find(client.find_debuginfo, "debuginfod_find_debuginfo");
  library.find(client.set_progress, "debuginfod_set_progressfn");
  if (library.missing() != nullptr) return {};
  return client;
}

using Time = std::chrono::steady_clock;
std::mutex g_mutex;           // one download at a time: the servers are the bottleneck, and the limit covers all
Time::duration g_spent{};     // of all downloads so far
Time::time_point g_deadline;  // of the current download
// Names of files by the reason why they were not found. A recording may name any number of modules: the output is
// bounded.
std::map<std::string, std::set<std::string>> g_failures;

// libdebuginfod calls this several times a second; a nonzero value gives up.
int give_up_late(void*, long, long) { return Time::now() > g_deadline ? 1 : 0; }

constexpr const char* kTooLate = "the time limit for all downloads expired";

// `error`: libdebuginfod's result, an errno. It reports a 404 answer as ENOENT.
std::string reason(int error) {
  switch (error) {
    case ENOENT: return "no server has it";
    case ECONNREFUSED: return "the connection was refused";
    case EHOSTUNREACH: return "no host of that name was found";
    case ETIME: return "no answer in time";
    default: return errno_text(error);
  }
}

// On failure nothing, and `why` is set.
std::optional<ElfFile> fetch(const BuildId& build_id, const DebugSearch& search, std::string& why) {
  static const std::optional<Client> kClient = load_client();
  why = "libdebuginfod.so.1 is not installed";
  if (!kClient) return {};
  const auto limit =
      std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(search.debuginfod_seconds));
  why = kTooLate;
  if (g_spent >= limit) return {};
  ::setenv("DEBUGINFOD_URLS", search.debuginfod_urls.c_str(), 1);
  why = "libdebuginfod could not begin";
  void* client = kClient->begin();
  if (client == nullptr) return {};
  const auto start = Time::now();
  g_deadline = start + (limit - g_spent);
  kClient->set_progress(client, give_up_late);
  char* path = nullptr;
  const int answer = kClient->find_debuginfo(client, build_id.data(), static_cast<int>(build_id.size()), &path);
  const Fd fd(answer);
  kClient->end(client);
  g_spent += Time::now() - start;
  const std::unique_ptr<char, decltype(&::free)> path_owner(path, ::free);
  why = g_spent >= limit ? kTooLate : reason(-answer);
  if (!fd || path == nullptr) return {};
  why = "the server sent the file of another build";
  auto file = ElfFile::open(path, ElfFile::Kind::kAny);  // the build ID is proof enough
  if (!file || file->build_id() != build_id) return {};
  return std::move(*file);
}

}  // namespace

std::optional<ElfFile> debuginfod_fetch(const std::string& path, const BuildId& build_id, const DebugSearch& search) {
  if (search.debuginfod_urls.empty() || build_id.empty()) return {};
  const std::lock_guard<std::mutex> lock(g_mutex);
  std::string why;
  auto file = fetch(build_id, search, why);
  if (!file) g_failures[fmt::format("{} ({})", why, search.debuginfod_urls)].insert(path.substr(path.rfind('/') + 1));
  return file;
}

std::string debuginfod_failures() {
  constexpr size_t kMostNames = 8;
  const std::lock_guard<std::mutex> lock(g_mutex);
  std::string text;
  for (const auto& [why, names] : g_failures) {
    std::vector<std::string> shown(names.begin(), std::next(names.begin(), std::min(kMostNames, names.size())));
    if (names.size() > kMostNames) shown.push_back(fmt::format("{} more", names.size() - kMostNames));
    text += fmt::format("{} {}: {}", text.empty() ? "--debuginfod got no debug file of" : "; of",
                        fmt::join(shown, ", "), why);
  }
  return text;
}

}  // namespace penna
