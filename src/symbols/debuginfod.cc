// SPDX-License-Identifier: MIT
// Debug files from debuginfod servers, only when the user asked for it.
//
// Why by dlopen: libdebuginfod brings curl and half a hundred libraries, and a tool that nobody asked to use the
// network should not even be able to. Invariant: without urls in the search this file does nothing at all.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <mutex>

#include "base/fd.h"
#include "symbols/debug_files.h"

namespace penna {
namespace {

// The part of libdebuginfod's interface that we use (elfutils/debuginfod.h, version 1).
struct Client {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  int (*find_debuginfo)(void*, const unsigned char*, int, char**) = nullptr;
  void (*set_progress)(void*, int (*)(void*, long, long)) = nullptr;
  explicit operator bool() const { return begin && end && find_debuginfo && set_progress; }
};

Client load_client() {
  Client client;
  void* library = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return client;
  auto load = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(::dlsym(library, name));
  };
  load(&client.begin, "debuginfod_begin");
  load(&client.end, "debuginfod_end");
  load(&client.find_debuginfo, "debuginfod_find_debuginfo");
  load(&client.set_progress, "debuginfod_set_progressfn");
  return client;
}

using Time = std::chrono::steady_clock;
std::mutex g_mutex;           // one download at a time: the servers are the bottleneck, and the limit is for all
Time::duration g_spent{};     // of all downloads so far
Time::time_point g_deadline;  // of the one that runs

// libdebuginfod calls this several times a second; a value other than 0 gives up.
int give_up_late(void*, long, long) { return Time::now() > g_deadline ? 1 : 0; }

}  // namespace

std::optional<std::string> debuginfod_fetch(const BuildId& build_id, const DebugSearch& search) {
  if (search.debuginfod_urls.empty() || build_id.empty()) return {};
  std::lock_guard<std::mutex> lock(g_mutex);
  static const Client kClient = load_client();
  if (!kClient) return {};
  auto limit = std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(search.debuginfod_seconds));
  if (g_spent >= limit) return {};
  ::setenv("DEBUGINFOD_URLS", search.debuginfod_urls.c_str(), 1);
  void* client = kClient.begin();
  if (client == nullptr) return {};
  auto start = Time::now();
  g_deadline = start + (limit - g_spent);
  kClient.set_progress(client, give_up_late);
  char* path = nullptr;
  Fd fd(kClient.find_debuginfo(client, build_id.data(), static_cast<int>(build_id.size()), &path));
  kClient.end(client);
  g_spent += Time::now() - start;
  std::optional<std::string> found;
  if (fd && path != nullptr) found = path;
  ::free(path);
  return found;
}

}  // namespace penna
