// SPDX-License-Identifier: MIT
// See cmd_view.h.
#include "cli/verbs/cmd_view.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <optional>

#include "analysis/progress.h"
#include "base/loaded_library.h"
#include "base/say.h"
#include "cli/browser.h"
#include "cli/input.h"
#include "cli/installed_library.h"
#include "cli/progress_line.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "cli/verbs/view_readers.h"
#include "view/http_server.h"
#include "view/index_file.h"
#include "view/page.h"
#include "view/questions.h"

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

Result<> serve(const ViewOptions& options, const Recording& recording) {
  // Blocked before a thread is started, so that all threads inherit it.
  const sigset_t endings = ending_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &endings, &before);
  const ServeHttp serve_http = PENNA_TRY(load_server());
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols, name_style(options.input, Format::kTable));
  const Summary all = summarize(recording);
  const std::unique_ptr<ProgressObserver> observer = progress_line(!options.input.no_progress);
  std::optional<Progress> progress;  // used by the thread that calls these two
  TrackOptions tracks;
  tracks.step = [&](uint64_t events) {
    if (!progress) progress.emplace("making the index", all.total_events(), "events", observer.get());
    progress->step(events);
  };
  tracks.done = [&] { progress.reset(); };
  tracks.say = [](const std::string& sentence) { say(sentence); };
  tracks.index_paths = index_paths(recording);
  ViewData data(recording, names, std::move(tracks));
  data.start();
  Questions questions(data, view_tables(data.summary()), view_readers(options.input, recording, options.before));
  Browser browser;
  HttpService service;
  service.port = options.port.value_or(0);
  service.token = PENNA_TRY(new_token());
  service.page = page();
  service.answer = [&](const std::string& name, const HttpParameters& parameters) {
    return questions.answer(name, parameters);
  };
  service.ready = [&](uint16_t port) {
    const std::string address = fmt::format("http://127.0.0.1:{}/{}/", port, service.token);
    fmt::print("{}\n", address);
    std::fflush(stdout);
    say(fmt::format("showing {} until Ctrl-C", recording.path()));
    if (!options.no_open) (void)browser.open(address, before);
  };
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
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (words.size() > 2) return Error{"give one recording, or two to compare them: penna view before.penna after.penna"};
  if (words.size() == 2) options.before = words.front();
  if (!words.empty()) options.input.recording = words.back();
  return parsed;
}

int cmd_view(const ViewOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  if (!options.before.empty())
    if (const Result<Recording> before = open_recording(options.before); !before) return fail(before.error().text);
  const Result<> served = serve(options, *recording);
  return served ? 0 : fail("view", served.error().text);
}

int view_verb(const Arguments& arguments) { return run_parsed("view", parse_view(arguments), cmd_view); }

}  // namespace penna
