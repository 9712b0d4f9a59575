// SPDX-License-Identifier: MIT
// See cmd_push.h.
#include "cli/verbs/cmd_push.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/count_text.h"
#include "base/printable.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/sql/sql_sources.h"
#include "cli/verbs.h"
#include "fleet/fleet_client.h"
#include "fleet/push_spool.h"
#include "report/units.h"

namespace penna {
namespace {

using Clock = std::chrono::steady_clock;

// Waits longer with each attempt, until the server has not answered for too long.
class RetryPause {
 public:
  RetryPause(uint64_t ns, bool quiet) : most_(ns), quiet_(quiet) {}

  bool wait(unsigned tries, const std::string& why) {
    const Clock::time_point now = Clock::now();
    if (tries == 1) since_ = now;
    if (now - since_ >= most_) {
      is_over_ = true;
      return false;
    }
    if (tries == 2 && !quiet_) say(fmt::format("{}; trying again", why));
    constexpr std::chrono::milliseconds kFirst{100}, kMost{10'000};
    const auto pause = std::min<std::chrono::milliseconds>(kFirst * (1U << std::min(tries - 1, 10U)), kMost);
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, since_ + most_ - now));
    return true;
  }

  bool is_over() const { return is_over_; }

 private:
  std::chrono::nanoseconds most_;
  bool quiet_;
  bool is_over_ = false;
  Clock::time_point since_{};
};

std::string fit_for_label(std::string text) {
  constexpr size_t kMost = 200;
  text = printable(text);
  if (text.size() > kMost) text.resize(kMost);
  return text.empty() ? "unknown" : printable(text);
}

// The labels from the options; if they lack host or service, the machine's and the program's names.
LabelList labels_of(const PushOptions& options, const Recording& recording) {
  LabelList labels = options.target.labels;
  const auto add = [&](const char* name, const std::string& value) {
    const auto has = [&](const auto& label) { return label.first == name; };
    if (std::none_of(labels.begin(), labels.end(), has)) labels.emplace_back(name, fit_for_label(value));
  };
  const Session& session = recording.session();
  add("host", session.host);
  add("service", session.command.empty() ? "" : std::filesystem::path(session.command[0]).filename().string());
  std::sort(labels.begin(), labels.end());
  return labels;
}

// The recorder holds a lock as long as it writes.
Result<> check_not_written(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0)
    return Error{fmt::format("{} is still being recorded: push it when that is over", path)};
  return ok();
}

std::string done_text(const std::string& path, const FleetServer& server, const PushDone& done) {
  if (done.was_there) return fmt::format("{} has all of {} already", server.name(), path);
  std::string text = fmt::format(
      "pushed {} to {}: {} in {}, {}", path, server.name(), plural_text(static_cast<int64_t>(done.rows), "row"),
      plural_text(static_cast<int64_t>(done.blocks), "block"), bytes_text(static_cast<int64_t>(done.bytes)));
  if (done.blocks_before != 0)
    text += fmt::format("; {} had arrived before", plural_text(static_cast<int64_t>(done.blocks_before), "block"));
  if (done.repeated != 0)
    text += fmt::format("; {} sent again", plural_text(static_cast<int64_t>(done.repeated), "block"));
  return text;
}

// Pushes with a note in `spool`, which stays until everything has arrived.
Result<> push(SqlSource& source, PushNote note, PushSpool& spool, const PushOptions& options) {
  const std::unique_ptr<FleetServer> server = PENNA_TRY(open_fleet_server(note.server));
  RetryPause retry(options.target.give_up ? options.target.give_up->value : 60'000'000'000, options.quiet);
  PushOrder order{note.labels, note.attempt, !spool.is_new(),
                  static_cast<uint16_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::hours(24))};
  PENNA_TRY(spool.write(note));
  const PushCare care{[&](uint32_t attempt) {
                        note.attempt = attempt;
                        return spool.write(note);
                      },
                      [&](unsigned tries, const std::string& why) { return retry.wait(tries, why); }};
  PushDone done;
  const Result<> pushed = push_recording(*server, source, order, care, done);
  if (!pushed && spool.is_new() && done.blocks == 0 && !retry.is_over()) {
    spool.remove();  // refused, and would be again
    return pushed.error();
  }
  if (!pushed)
    return Error{fmt::format("{}; {} of {} arrived, and 'penna push' goes on from there", pushed.error().text,
                             plural_text(static_cast<int64_t>(done.blocks + done.blocks_before), "block"),
                             source.recording().path())};
  spool.remove();
  if (!options.quiet) say(done_text(source.recording().path(), *server, done));
  return ok();
}

Result<> push_file(const std::string& path, const PushOptions& options) {
  const SqlSources sources = PENNA_TRY(open_sql_sources(options.input, {path}));
  SqlSource& source = *sources[0];
  PENNA_TRY(check_not_written(source.recording().path()));
  for (const std::string& warning : sql_warnings(sources)) say(warning);
  PushNote note;
  std::error_code error;
  note.recording = std::filesystem::absolute(source.recording().path(), error).string();
  note.server = options.target.server;
  for (std::string* file : {&note.server.password_file, &note.server.token_file})
    if (!file->empty()) *file = std::filesystem::absolute(*file, error).string();
  note.labels = labels_of(options, source.recording());
  PushSpool spool = PENNA_TRY(PushSpool::open(push_note_name(source.recording(), options.target.server)));
  if (!spool.is_new()) note.attempt = PENNA_TRY(spool.read()).attempt;
  return push(source, note, spool, options);
}

// Pushes what a note describes.
Result<> push_noted(const std::string& name, const PushOptions& options) {
  PushSpool spool = PENNA_TRY(PushSpool::open(name));
  if (spool.is_new()) return ok();  // another process has finished it
  const PushNote note = PENNA_TRY(spool.read());
  const Result<SqlSources> sources = open_sql_sources(options.input, {note.recording});
  if (!sources)
    return Error{fmt::format("{} (it was to be pushed to {}: to give that up, remove {})", sources.error().text,
                             note.server.url, spool.path())};
  if (push_note_name((*sources)[0]->recording(), note.server) != name)
    return Error{fmt::format("{} is another recording than the one that was to be pushed: to give that up, remove {}",
                             note.recording, spool.path())};
  return push(*(*sources)[0], note, spool, options);
}

}  // namespace

Result<Parsed<PushOptions>> parse_push(const Arguments& arguments) {
  Parsed<PushOptions> parsed;
  PushOptions& options = parsed.options;
  OptionParser parser(
      "Sends recordings to the tables of a ClickHouse server that 'penna fleet init' has made, each row exactly once. "
      "What could not be sent is sent by the next 'penna push' without words.",
      "penna push");
  parser.words("[REC...]", options.recordings, "recordings, default the newest *.penna here");
  parser.section("The server");
  parser.text("--to", options.target.server.url, "URL", "the server: http://HOST:8123 or https://HOST:8443");
  parser.section("The recordings");
  add_label_option(parser, options.target);
  parser.section("The server");
  parser.value("--give-up", options.target.give_up, "TIME", "after so long without an answer, as 10min; default 60s",
               ParseDuration{"--give-up"});
  add_server_options(parser, options.target.server);
  add_symbol_options(parser, options.input);
  parser.section("Output");
  parser.flag("-q,--quiet", options.quiet, "print only errors");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(check_push_target(options.target));
  if (options.target.server.url.empty() && !(options.recordings.empty() && options.target.labels.empty()))
    return Error{"--to is missing, which says where to: penna push --to http://HOST:8123 REC"};
  return parsed;
}

int cmd_push(const PushOptions& options) {
  int status = 0;
  const auto note = [&](const Result<>& pushed) {
    if (!pushed) status = fail("push", pushed.error().text);
  };
  if (options.target.server.url.empty()) {
    const Result<std::vector<std::string>> names = PushSpool::names();
    if (!names) return fail("push", names.error().text);
    if (names->empty() && !options.quiet) say("there is nothing left to push");
    for (const std::string& name : *names) note(push_noted(name, options));
    return status;
  }
  if (options.recordings.empty()) note(push_file("", options));
  for (const std::string& path : options.recordings) note(push_file(path, options));
  return status;
}

int push_verb(const Arguments& arguments) { return run_parsed("push", parse_push(arguments), cmd_push); }

}  // namespace penna
