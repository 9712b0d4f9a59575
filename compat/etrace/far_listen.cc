// SPDX-License-Identifier: MIT
// See far_listen.h.
#include "far_listen.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "collect/clocks.h"
#include "collect/settings.h"
#include "far_socket.h"
#include "far_view.h"
#include "session/signals.h"

namespace penna {
namespace {

constexpr int kQuietMs = 100;      // after so long without news, all that has come is shown
constexpr int kGreetingMs = 2000;  // a peer that has sent nothing by then is not an etrace
constexpr size_t kReadBytes = 64 << 10;

// A signal has arrived that ends us.
bool end_requested(const Signals& signals) {
  for (auto signal = signals.next(); signal.ssi_signo != 0; signal = signals.next())
    if (signal.ssi_signo != SIGPIPE && signal.ssi_signo != SIGXFSZ) return true;
  return false;
}

enum class Heard { kMore, kOver, kBroken, kSignal, kNobody };

// Reads what arrives next, for at most `patience_ms` (-1: forever), and passes it to `reader`. The error: it was not
// valid.
Result<Heard> hear(const Fd& socket, const Signals& signals, WireReader& reader, int patience_ms) {
  pollfd fds[] = {{socket.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
  if (::poll(fds, 2, patience_ms) == 0) return Heard::kNobody;
  if (end_requested(signals)) return Heard::kSignal;
  if (fds[0].revents == 0) return Heard::kMore;
  static std::array<uint8_t, kReadBytes> bytes;
  const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::kMore;
  if (got <= 0) return Heard::kBroken;
  PENNA_TRY(reader.take(std::span<const uint8_t>(bytes).first(static_cast<size_t>(got))));
  return reader.is_over() ? Heard::kOver : Heard::kMore;
}

// Waits for the greeting. kMore: it is an etrace; kSignal: we are to end; anything else: it is not one. The error: it
// is an etrace, and what it sent next was not valid.
Result<Heard> greet(const Fd& socket, const Signals& signals, WireReader& reader) {
  while (!reader.is_greeted()) {
    const auto heard = hear(socket, signals, reader, kGreetingMs);
    if (!heard && !reader.is_greeted()) return Heard::kNobody;
    if (!heard || (*heard != Heard::kMore && !reader.is_greeted())) return heard;
  }
  return Heard::kMore;
}

// The first peer that is an etrace; an empty Fd: we are to end. Peers are tried one after the other, each for two
// seconds at most: a port scanner cannot keep the right one out for long.
Result<Fd> meet(const EtraceOptions& options, const FarListener& listener, const Signals& signals, WireReader& reader) {
  std::vector<pollfd> fds{{signals.fd(), POLLIN, 0}};
  for (const Fd& socket : listener.sockets) fds.push_back({socket.get(), POLLIN, 0});
  for (;;) {
    (void)::poll(fds.data(), fds.size(), -1);
    if (end_requested(signals)) return Fd();
    for (const Fd& one : listener.sockets) {
      std::string from;
      Fd socket = accept_far(one, from);
      if (!socket) continue;
      const Heard heard = PENNA_TRY(greet(socket, signals, reader));
      if (heard == Heard::kSignal) return Fd();
      if (heard == Heard::kMore) {
        inform(options, fmt::format("connected with {}", from));
        return socket;
      }
      reader.forget();
      inform(options, fmt::format("{} has connected, and is not an etrace of this version: disconnected", from));
    }
  }
}

// What came last is shown when the view hears again that it is up to date, and if it is slow, it notices only one of
// several times. So that is repeated for as long as nothing comes.
Result<> show(const Fd& socket, const Signals& signals, WireReader& reader, Observer& view) {
  for (;;) {
    switch (PENNA_TRY(hear(socket, signals, reader, kQuietMs))) {
      case Heard::kMore: break;
      case Heard::kNobody: view.up_to_date(); break;
      case Heard::kOver:
      case Heard::kSignal: return ok();
      case Heard::kBroken: return Error{"the connection broke: what the program did later is not shown"};
    }
  }
}

Result<> listen_and_show(const EtraceOptions& options) {
  const Signals signals(ending_signals());
  std::string own_file;
  if (!options.program.empty()) {
    std::error_code unknown;
    own_file = std::filesystem::canonical(options.program, unknown).string();
  }
  auto sent = std::make_unique<SentNames>(own_file, make_symbol_source());
  SentNames& names = *sent;
  const auto symbols = PENNA_TRY(open_symbols(options, std::move(sent)));
  const FarAddress address = PENNA_TRY(parse_far_address(options.listen));
  FarListener listener = PENNA_TRY(listen_far(address));
  LiveView view(options.all ? LiveForm::kAll : LiveForm::kTree, false, describe_session({}, {}), read_clocks(),
                *symbols, 1);
  symbols->set_program([&](const std::string& path) { return is_executable_of(view.recording(), path); });
  FarView far(view, names);
  WireReader reader(far);
  PENNA_TRY(view.start());

  inform(options, fmt::format("waiting at port {}; where the program runs: etrace --connect HOST:{}", listener.port,
                              listener.port));
  const Result<Fd> socket = meet(options, listener, signals, reader);
  // One program, one viewer: no other connection is accepted from here on.
  listener.sockets.clear();
  Result<> shown = ok();
  if (!socket)
    shown = socket.error();
  else if (*socket)
    shown = show(*socket, signals, reader, view.observer());
  // A connection that breaks leaves processes open; without an end their last calls would not be shown.
  for (const uint32_t process : reader.open_processes())  // what was open in them when we last received something
    view.observer().ended({.number = process});
  view.finish();
  return shown;
}

}  // namespace

int show_far(const EtraceOptions& options) {
  const Result<> shown = listen_and_show(options);
  return shown ? 0 : fail_with(shown.error().text);
}

}  // namespace penna
