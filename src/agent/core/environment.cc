// SPDX-License-Identifier: MIT
// See environment.h.
#include "agent/core/environment.h"

#include <sys/auxv.h>

#include "agent/core/text.h"
#include "penna/channel.h"
#include "penna/detail/preload.h"

extern "C" char** environ;

namespace penna::agent {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kSocket[] = PENNA_SOCKET_VARIABLE "=";

char socket_path[128];
char library_path[1024];

// Where the entry that begins with `prefix` is in `list`; null if there is none.
char** find_entry(char** list, const char* prefix, size_t length) {
  for (; *list != nullptr; ++list)
    if (text_begins(*list, prefix, length)) return list;
  return nullptr;
}

void remove_entry(char** entry) {
  for (; *entry != nullptr; ++entry) entry[0] = entry[1];
}

char* shown_socket;  // in the memory behind /proc/PID/environ

void wipe(char* text) {
  for (; *text != '\0'; ++text) *text = '\0';
}

// LD_PRELOAD=[RUNTIME:]AGENT[:REST] becomes LD_PRELOAD=REST, or nothing.
void strip_preload() {
  char** entry = find_entry(environ, kPreload, sizeof kPreload - 1);
  if (entry == nullptr) return;
  char* const begin = *entry + sizeof kPreload - 1;
  const size_t runtime = penna_first_runtime(begin);
  char* value = begin[runtime] == '\0' ? begin : begin + runtime + (runtime != 0);
  size_t first = 0;
  while (value[first] != '\0' && value[first] != ':' && value[first] != ' ') ++first;
  if (first == 0 || first >= sizeof library_path) return;
  __builtin_memcpy(library_path, value, first);
  library_path[first] = '\0';
  if (value[first] == '\0') {
    wipe(*entry);
    remove_entry(entry);
  } else {
    size_t rest = text_length(value + first + 1);
    __builtin_memmove(begin, value + first + 1, rest + 1);
    wipe(begin + rest + 1);
  }
}

}  // namespace

bool take_from_environment() {
  // AT_SECURE: a program that is more privileged than its caller must not share memory with the caller's recorder.
  if (environ == nullptr || getauxval(AT_SECURE) != 0) return false;
  char** entry = find_entry(environ, kSocket, sizeof kSocket - 1);
  if (entry == nullptr) return false;
  if (!set_recorder_socket(*entry + sizeof kSocket - 1)) return false;
  shown_socket = *entry;
  remove_entry(entry);
  strip_preload();
  return true;
}

void wipe_environment() {
  if (shown_socket != nullptr) *shown_socket = PENNA_SOCKET_MET;
  shown_socket = nullptr;
}

const char* recorder_socket() { return socket_path[0] != '\0' ? socket_path : nullptr; }

bool set_recorder_socket(const char* path) {
  size_t length = text_length(path);
  if (length == 0 || length >= sizeof socket_path) return false;
  __builtin_memcpy(socket_path, path, length + 1);
  return true;
}

const char* agent_path() { return library_path; }

void set_agent_path(const char* path) {
  const size_t length = text_length(path);
  if (length < sizeof library_path) __builtin_memcpy(library_path, path, length + 1);
}

bool has_our_variables(char* const* environment) {
  return environment != nullptr && find_entry(const_cast<char**>(environment), kSocket, sizeof kSocket - 1) != nullptr;
}

namespace {
// What LD_PRELOAD lists before the agent: `runtime`, or what the user preloads if that must come first.
const char* runtime_before_agent(const char* preloaded, const char* runtime, size_t* length) {
  *length = text_length(runtime);
  if (*length != 0) return runtime;
  *length = penna_first_runtime(preloaded);
  return preloaded;
}
}  // namespace

char* append_preload(char* to, const char* preloaded, const char* runtime) {
  size_t length;
  const char* const before = runtime_before_agent(preloaded, runtime, &length);
  if (length != 0) {
    __builtin_memcpy(to, before, length);
    to += length;
    *to++ = ':';
  }
  to = text_append(to, library_path);
  return *preloaded != '\0' ? text_append(text_append(to, ":"), preloaded) : to;
}

ExecEnvironment exec_environment_size(char* const* from, const char* runtime) {
  ExecEnvironment size{3, sizeof kPreload + sizeof kSocket + text_length(socket_path) + text_length(library_path) +
                              text_length(runtime) + 4};
  for (; from != nullptr && *from != nullptr; ++from) {
    ++size.pointers;
    if (text_begins(*from, kPreload, sizeof kPreload - 1)) size.bytes += 2 * text_length(*from);
  }
  return size;
}

char** make_exec_environment(char* const* from, const char* runtime, char** pointers, char* text) {
  const char* preloaded = nullptr;
  size_t count = 0;
  for (; from != nullptr && *from != nullptr; ++from) {
    if (text_begins(*from, kSocket, sizeof kSocket - 1)) continue;
    if (preloaded == nullptr && text_begins(*from, kPreload, sizeof kPreload - 1))
      preloaded = *from + sizeof kPreload - 1;
    else
      pointers[count++] = *from;
  }
  pointers[count++] = text;
  text = append_preload(text_append(text, kPreload), preloaded != nullptr ? preloaded : "", runtime);
  *text++ = '\0';
  pointers[count++] = text;
  text = text_append(text, kSocket);
  text = text_append(text, socket_path);
  *text = '\0';
  pointers[count] = nullptr;
  return pointers;
}

}  // namespace penna::agent
