// SPDX-License-Identifier: MIT
// See far_sender.h.
#include "far_sender.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "recording/records.h"

namespace penna {
namespace {

constexpr size_t kSendBytes = 256 << 10;  // at a time
constexpr int kNice = 10;                 // the program and the collector come first
constexpr int kLookMs = 100;              // how often to check whether we are to end, while the network takes nothing
constexpr int kLastLooks = 5000 / kLookMs;

uint64_t entries_of(std::span<const uint8_t> chunk) {
  uint64_t entries = 0;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) entries += record.kind == PENNA_KIND_CALL_ENTRY;
  return entries;
}

bool is_empty(const LiveBatch& batch) { return batch.began.empty() && batch.records.empty() && batch.ended.empty(); }

}  // namespace

FarSender::FarSender(Fd socket, const Session& session, const ClockTriplet& start, SymbolSource& symbols,
                     std::function<void()> on_broken)
    : socket_(std::move(socket)), symbols_(symbols), on_broken_(std::move(on_broken)), live_(session, start) {
  names_.emplace(live_.recording(), symbols_);
  out_.assign(kWireGreeting.begin(), kWireGreeting.end());
}

FarSender::~FarSender() {
  if (thread_.joinable()) finish();
}

Result<> FarSender::start() {
  (void)flush();  // the greeting: the other side knows us long before the program starts
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return Error{fmt::format("cannot start a thread: {}", errno_text(error.code().value()))};
  }
  return ok();
}

void FarSender::finish() {
  closing_.store(true, std::memory_order_relaxed);
  feed_.close();
  if (thread_.joinable()) thread_.join();
}

void FarSender::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  // One batch behind, like LiveView, and for the same reason.
  LiveBatch batch, next;
  for (bool more = true; more;) {
    more = feed_.take(next);
    meet(next);
    send(batch);
    batch = std::exchange(next, {});
  }
  send(batch);
  put_over(out_);
  if (flush()) ::shutdown(socket_.get(), SHUT_WR);
}

// Takes the modules from a batch: they name the functions of records in the batch before.
void FarSender::meet(const LiveBatch& batch) {
  for (const Process& process : batch.began) processes_[process.number] = live_.add_process(process);
  for (const LiveRecords& records : batch.records) {
    const auto process = processes_.find(records.process);
    if (process == processes_.end()) continue;
    RecordCursor in(records.chunk);
    Record record;
    while (in.next(record)) {
      if (record.kind != PENNA_KIND_MODULE) continue;
      if (auto module = decode_module(record)) {
        module->ticks = record.time;
        live_.add_module(process->second, std::move(*module));
      }
    }
  }
  if (!live_.prepare()) return;
  names_.emplace(live_.recording(), symbols_);
  named_.clear();
}

// Names are sent before the records that need them first.
void FarSender::send(const LiveBatch& batch) {
  for (const Process& process : batch.began) put_began(out_, process);
  for (const LiveRecords& records : batch.records) {
    if (processes_.count(records.process) == 0) continue;
    if (!broken_) send_names(records);
    put_records(out_, records.process, records.chunk, records.calls_dropped, records.others_dropped);
    if (broken_ || (out_.size() >= kSendBytes && !flush())) count_unsent(records);
  }
  for (const ProcessEnd& ended : batch.ended)
    if (processes_.erase(ended.number) != 0) put_ended(out_, ended);
  if (!is_empty(batch)) put_up_to_date(out_);
  (void)flush();
}

// Each function is named once, when it is first called: a program calls few of the functions that it has.
void FarSender::send_names(const LiveRecords& records) {
  RecordCursor in(records.chunk);
  Record record;
  while (in.next(record))
    if (record.is_call()) send_name(processes_.at(records.process), record.pc, record.time);
}

// Nothing is sent for what has no name here either: the other side shows an address then anyway.
void FarSender::send_name(uint32_t process, uint64_t pc, uint64_t ticks) {
  const CodePlace place = names_->map().locate(process, pc, ticks);
  if (!place.known() || !named_.insert(place).second) return;
  const NameFrame& function = names_->at(place).back();
  if (function.named) put_name(out_, names_->map().path(place.module), place.address, function.function);
}

void FarSender::count_unsent(const LiveRecords& records) {
  calls_unsent_ += records.calls_dropped + entries_of(records.chunk);
}

void FarSender::break_off() {
  broken_ = true;
  on_broken_();
}

// Waits as long as the other side needs: this thread has nothing else to do, and the feed drops what arrives meanwhile.
// After finish() it gives up after five seconds without progress. False: the other side is gone.
bool FarSender::flush() {
  size_t done = 0;
  int looks = 0;
  pollfd state{socket_.get(), POLLRDHUP, 0};
  if (!broken_ && ::poll(&state, 1, 0) > 0) break_off();  // detected even when there is nothing to send
  while (!broken_ && done < out_.size()) {
    const ssize_t sent = ::send(socket_.get(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
      looks = 0;
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) break_off();
    pollfd ready{socket_.get(), POLLOUT, 0};
    const bool waited = !broken_ && ::poll(&ready, 1, kLookMs) == 0;
    if (waited && closing_.load(std::memory_order_relaxed) && ++looks == kLastLooks) break_off();
  }
  out_.clear();
  return !broken_;
}

}  // namespace penna
