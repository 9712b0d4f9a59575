// SPDX-License-Identifier: MIT
// See cmd_view.h.
#include "cli/verbs/cmd_view.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "analysis/progress.h"
#include "base/installed_library.h"
#include "base/loaded_library.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/output/browser.h"
#include "cli/output/progress_line.h"
#include "cli/verbs.h"
#include "cli/verbs/view_followed.h"
#include "cli/verbs/view_readers.h"
#include "export/text/json_writer.h"
#include "session/signals.h"
#include "view/answers/questions.h"
#include "view/data/view_data.h"
#include "view/page.h"
#include "view/server/http_server.h"
#include "view/tracks/index_file.h"

namespace penna {
namespace {

// 128 bits that no other user of this machine can guess.
Result<std::string> new_token() {
  uint64_t number[2];
  if (::getrandom(number, sizeof number, 0) != sizeof number) return Error{"the system gives no random numbers"};
  return fmt::format("{:016x}{:016x}", number[0], number[1]);
}

using ServeHttp = decltype(&penna_serve_http);

Result<ServeHttp> load_server() {
  const std::string path = PENNA_TRY(installed_library(kHttpModule));
  LoadedLibrary module(path);
  if (!module)
    return Error{
        fmt::format("cannot load the server ({}): install libcpp-httplib0.11, or what is newer", module.error())};
  ServeHttp entry = nullptr;
  module.find(entry, kHttpEntry);
  if (entry == nullptr) return Error{fmt::format("{} is no server of Penna's: install penna again", path)};
  return entry;
}

// A recording that no process is writing, and what answers questions about it.
class FinishedView {
 public:
  FinishedView(const ViewOptions& options, Recording recording, const std::function<void(Recording&)>& number)
      : recording_(std::move(recording)),
        symbols_(open_symbols(options.input, recording_)),
        names_(recording_, *symbols_, name_style(options.input, Format::kTable)),
        observer_(progress_line(!options.input.no_progress)),
        data_(recording_, names_, track_options(options.input, number != nullptr)),
        questions_(data_, view_tables,
                   view_readers(options.input, recording_.path(), options.source_dirs, options.before, number)) {
    data_.start();
  }
  HttpAnswer answer(const std::string& name, const HttpParameters& parameters) {
    return questions_.answer(name, parameters);
  }
  void adopt_ids(NameIds ids) { data_.adopt_ids(std::move(ids)); }

 private:
  // `numbered`: its threads have other ids than those of the file.
  TrackOptions track_options(const InputOptions& input, bool numbered) {
    TrackOptions tracks;
    tracks.step = [this](uint64_t events) {
      if (!progress_) progress_.emplace("making the index", data_.summary()->total_events(), "events", observer_.get());
      progress_->step(events);
    };
    tracks.done = [this] { progress_.reset(); };
    tracks.say = [](const std::string& sentence) { say(sentence); };
    tracks.index_paths = index_paths(recording_);
    if (!numbered) tracks.answers_key = answers_key(input);
    return tracks;
  }

  const Recording recording_;
  const std::unique_ptr<SymbolSource> symbols_;
  Names names_;
  const std::unique_ptr<ProgressObserver> observer_;
  std::optional<Progress> progress_;  // used by the thread that builds the index
  ViewData data_;
  Questions questions_;
};

// Whether options leave out a part that depends on all earlier events: then the recording is not followed, but shown
// like a finished one.
bool leaves_out(const Recording& recording) {
  const Selection* const selection = recording.selection();
  return selection != nullptr && (selection->calls || selection->conditions || !selection->threads.empty());
}

// The recording that the page shows: followed while a process writes it, and then finished.
class Shown {
 public:
  explicit Shown(const ViewOptions& options) : options_(options) {}

  Result<> open(Recording recording) {
    const pid_t writer = options_.before.empty() && !leaves_out(recording) ? writer_of(recording) : 0;
    if (writer == 0) {
      finished_ = std::make_shared<FinishedView>(options_, std::move(recording), std::function<void(Recording&)>());
      return ok();
    }
    FollowedRecording followed = PENNA_TRY(FollowedRecording::open(options_.input.recording));
    followed_ = std::make_unique<FollowedView>(std::move(followed), options_, writer, [this] { finish(); });
    followed_->start();
    return ok();
  }
  bool is_followed() const { return followed_ != nullptr; }

  HttpAnswer answer(const std::string& name, const HttpParameters& parameters) {
    if (const std::shared_ptr<FinishedView> finished = this->finished()) return finished->answer(name, parameters);
    HttpAnswer answer = followed_->answer(name, parameters);
    // Meanwhile finished, whose ids may lack names that are new in this answer.
    const std::shared_ptr<FinishedView> finished = this->finished();
    return finished ? finished->answer(name, parameters) : std::move(answer);
  }
  HttpAnswer act(const std::string& name, const HttpParameters& parameters) { return followed_->act(name, parameters); }
  // *seen: 1 once the end has been reported.
  std::string next_event(uint64_t* seen) {
    std::unique_lock hold(mutex_);
    changed_.wait_for(hold, *seen == 1 ? kIdle : kMoment,
                      [&] { return *seen == 0 && (finished_ || !trouble_.empty()); });
    if (*seen == 1) return {};
    if (!finished_ && trouble_.empty()) {
      hold.unlock();
      return followed_->news();
    }
    *seen = 1;
    return json_text([&](JsonWriter& json) {
      json.field("growing", false);
      if (!trouble_.empty()) json.field("error", trouble_);
    });
  }

 private:
  static constexpr auto kMoment = std::chrono::milliseconds(100), kIdle = std::chrono::milliseconds(500);

  std::shared_ptr<FinishedView> finished() {
    const std::lock_guard hold(mutex_);
    return finished_;
  }
  // Nothing more will be written. Threads and names keep their ids.
  void finish() {
    Result<Recording> recording = open_input(options_.input);
    std::shared_ptr<FinishedView> finished;
    if (recording) {
      const auto number = [this](Recording& one) { followed_->number(one); };
      number(*recording);
      finished = std::make_shared<FinishedView>(options_, std::move(*recording), number);
    } else {
      followed_->end();
    }
    const std::lock_guard hold(mutex_);
    // Under the lock: an answer that adds names from here on is made anew by the finished view.
    if (finished) finished->adopt_ids(followed_->ids());
    finished_ = std::move(finished);
    if (!recording) trouble_ = recording.error().text;
    changed_.notify_all();
  }

  const ViewOptions options_;
  std::mutex mutex_;  // guards these
  std::condition_variable changed_;
  std::shared_ptr<FinishedView> finished_;
  std::string trouble_;
  std::unique_ptr<FollowedView> followed_;  // its thread ends before everything else is destroyed
};

Result<> serve(const ViewOptions& options, Recording recording) {
  // Blocked before any thread is started, so that all threads inherit this.
  const sigset_t endings = ending_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &endings, &before);
  const ServeHttp serve_http = PENNA_TRY(load_server());
  const std::string path = recording.path();
  Shown shown(options);
  PENNA_TRY(shown.open(std::move(recording)));
  Browser browser;
  HttpService service;
  service.port = options.port.value_or(0);
  service.token = PENNA_TRY(new_token());
  service.page = page();
  service.answer = [&](const std::string& name, const HttpParameters& parameters) {
    return shown.answer(name, parameters);
  };
  if (shown.is_followed()) {
    service.act = [&](const std::string& name, const HttpParameters& parameters) {
      return shown.act(name, parameters);
    };
    service.next_event = [&](uint64_t* seen) { return shown.next_event(seen); };
  }
  service.ready = [&](uint16_t port) {
    const std::string address = fmt::format("http://127.0.0.1:{}/{}/", port, service.token);
    (void)print(address + "\n");
    say(fmt::format("showing {} until Ctrl-C", path));
    if (!options.no_open) (void)browser.open(address, before);
  };
  // Nothing is left behind: an index that is not finished is a file without a name.
  service.leave = [] { ::_exit(0); };
  std::string trouble;
  serve_http(&service, &endings, &trouble);
  if (!trouble.empty()) return Error{trouble};
  return ok();
}

}  // namespace

Result<Parsed<ViewOptions>> parse_view(const Arguments& arguments) {
  Parsed<ViewOptions> parsed;
  ViewOptions& options = parsed.options;
  OptionParser parser("Shows a recording in the browser: a page for this user alone, on this machine.", "penna view");
  std::vector<std::string> words;
  parser.words("[A] [REC]", words, "the recording, default the newest *.penna here; A: what it is compared with");
  add_input_options(parser, options.input);
  parser.section("Of the page");
  parser.flag("--no-open", options.no_open, "print the address, and do not start a browser");
  parser.number("--port", options.port, "N", "listen on this port of 127.0.0.1; default any that is free", 1, 65535);
  std::vector<std::string> source_dirs;
  parser.texts("--source-dir", source_dirs, "DIR",
               "show source files that lie in DIR, default the current directory; may be repeated");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!source_dirs.empty()) options.source_dirs = std::move(source_dirs);
  if (words.size() > 2) return Error{"give one recording, or two to compare them: penna view before.penna after.penna"};
  if (words.size() == 2) options.before = words.front();
  if (!words.empty()) options.input.recording = words.back();
  return parsed;
}

int cmd_view(const ViewOptions& options) {
  Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  if (!options.before.empty())
    if (const Result<Recording> before = open_recording(options.before); !before) return fail(before.error().text);
  ViewOptions chosen = options;
  chosen.input.recording = recording->path();
  const Result<> served = serve(chosen, std::move(*recording));
  return served ? 0 : fail("view", served.error().text);
}

int view_verb(const Arguments& arguments) { return run_parsed("view", parse_view(arguments), cmd_view); }

}  // namespace penna
