// SPDX-License-Identifier: MIT
// The interface of OwnRecorder: penna/recorder.h, and PENNA_RECORD in the environment.
//
// Invariant: at most one recorder in a process; it ends before the process leaves exit().
#include "penna/recorder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/say.h"
#include "penna/version.h"
#include "recorder/own_recorder.h"

namespace penna {
namespace {

// A quarter of what penna record takes: here it is the program's own memory.
constexpr uint32_t kPoolMib = 16;

// The mutex also keeps a stop from overtaking the start that it belongs to.
struct OnlyRecorder {
  std::mutex mutex;
  std::unique_ptr<OwnRecorder> recorder;
};

// Never destroyed: it is used after the destructors of the program have run.
OnlyRecorder& the_only() {
  static auto* only = new OnlyRecorder;
  return *only;
}

std::vector<std::string> split(const char* list) {
  std::vector<std::string> words;
  if (list == nullptr) return words;
  const std::string text = list;
  for (size_t at = 0; at <= text.size(); at += words.back().size() + 1)
    words.push_back(text.substr(at, text.find(',', at) - at));
  return words;
}

// The size of the first struct that was released; no caller has a smaller one.
constexpr size_t kFirstSize = 56;
static_assert(sizeof(penna_recorder_options) >= kFirstSize);
// More than this is not a size: the caller has not set it.
constexpr size_t kMostSize = 4096;

// What the caller wrote, in the struct that this library knows.
Result<penna_recorder_options> read_options(const penna_recorder_options* given) {
  penna_recorder_options options;
  if (given == nullptr) return options;
  if (given->size < kFirstSize || given->size > kMostSize)
    return Error{
        fmt::format("penna_recorder_options.size is {}: set it to sizeof(penna_recorder_options)", given->size)};
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->reserved != 0 || std::any_of(bytes + std::min(given->size, sizeof options), bytes + given->size,
                                          [](unsigned char byte) { return byte != 0; }))
    return Error{fmt::format(
        "the program sets an option that this libpenna ({}) does not know: link it with the version that it "
        "was compiled for, or leave the option out",
        PENNA_VERSION)};
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

Result<RecordSettings> settings_of(const penna_recorder_options& options) {
  RecordSettings settings;
  settings.classes = PENNA_TRY(classes_of(options.kinds != nullptr ? split(options.kinds) : split("points")));
  settings.point_patterns = split(options.events);
  if (options.where != nullptr) settings.conditions.push_back(PENNA_TRY(Where::parse(options.where)));
  settings.on_full = options.block != 0 ? PENNA_ON_FULL_BLOCK : PENNA_ON_FULL_DROP;
  if (options.pool_mib > 4096 || (options.pool_mib != 0 && options.pool_mib < 4))
    return Error{fmt::format("a pool of {} MiB: choose 4 to 4096", options.pool_mib)};
  settings.pool_mib = options.pool_mib != 0 ? options.pool_mib : kPoolMib;
  if (options.stack_depth > PENNA_MAX_STACK_DEPTH)
    return Error{fmt::format("a stack depth of {}: choose 1 to {}", options.stack_depth, int{PENNA_MAX_STACK_DEPTH})};
  if (options.stack_depth != 0) settings.stack_depth = options.stack_depth;
  return settings;
}

// In the current directory, as penna record names it.
std::string default_file() { return fmt::format("{}.{}.penna", program_invocation_short_name, ::getpid()); }

Result<> start(const penna_recorder_options* given) {
  const penna_recorder_options options = PENNA_TRY(read_options(given));
  const RecordSettings settings = PENNA_TRY(settings_of(options));
  OnlyRecorder& only = the_only();
  std::lock_guard hold(only.mutex);
  only.recorder = PENNA_TRY(OwnRecorder::start(options.file != nullptr ? options.file : default_file(), settings));
  return ok();
}

Result<> stop() {
  OnlyRecorder& only = the_only();
  std::lock_guard hold(only.mutex);
  return only.recorder != nullptr ? only.recorder->stop() : ok();
}

int status_of(const Result<>& result, char* error, size_t bytes) {
  if (bytes != 0) std::snprintf(error, bytes, "%s", result ? "" : result.error().text.c_str());
  return result ? 0 : -1;
}

// ---- PENNA_RECORD ---------------------------------------------------------------------------------------------------

// Not in a program that has more privileges than its caller, which must not choose the files that it writes.
std::string take_variable(const char* name) {
  const char* value = ::secure_getenv(name);
  std::string text = value != nullptr ? value : "";
  // Programs that this one starts would write the same file.
  ::unsetenv(name);
  return text;
}

const char* or_default(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

__attribute__((constructor)) void program_begins() {
  const std::string file = take_variable("PENNA_RECORD"), kinds = take_variable("PENNA_RECORD_KINDS"),
                    events = take_variable("PENNA_RECORD_EVENTS"), where = take_variable("PENNA_RECORD_WHERE");
  if (file.empty()) return;
  penna_recorder_options options;
  options.file = file.c_str();
  options.kinds = or_default(kinds);
  options.events = or_default(events);
  options.where = or_default(where);
  if (const Result<> started = start(&options); !started)
    say(fmt::format("PENNA_RECORD={}: {}; the program keeps running, unrecorded", file, started.error().text));
}

__attribute__((destructor)) void program_ends() {
  if (const Result<> stopped = stop(); !stopped) say(stopped.error().text);
}

}  // namespace
}  // namespace penna

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

PENNA_EXPORT int penna_recorder_start(const penna_recorder_options* options, char* error, size_t error_bytes) {
  return penna::status_of(penna::start(options), error, error_bytes);
}

PENNA_EXPORT int penna_recorder_stop(char* error, size_t error_bytes) {
  return penna::status_of(penna::stop(), error, error_bytes);
}
