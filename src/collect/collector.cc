// SPDX-License-Identifier: MIT
// See collector.h.
#include "collect/collector.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/file.h"
#include "collect/clocks.h"
#include "penna/clock.h"
#include "recording/slowdown.h"

namespace penna {
namespace {

// How many chunks of one process are drained before the next process, and before an observer gets its look.
constexpr size_t kTurn = 64, kEagerTurn = 4;
constexpr size_t kMostNotes = 1000;
// Between looks at open chunks, with an observer.
constexpr int kLookMs = 20, kEagerLookMs = 2;
constexpr uint64_t kEagerNs = 1'000'000'000;  // as long as somebody may wait for the first event

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
uint64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
uint64_t monotonic_coarse_ns() { return clock_ns(CLOCK_MONOTONIC_COARSE); }

// The target reports ticks; the two readings give the length of a tick. More than 10 us per record is not plausible.
uint64_t record_cost_ps(const ClockTriplet& began, const ClockTriplet& ended, uint64_t ticks) {
  if (ended.ticks <= began.ticks || ended.monotonic_ns <= began.monotonic_ns) return 0;
  const double ns_per_tick =
      static_cast<double>(ended.monotonic_ns - began.monotonic_ns) / static_cast<double>(ended.ticks - began.ticks);
  const double ps = static_cast<double>(ticks) / double{PENNA_COST_RECORDS} * ns_per_tick * 1000;
  return ps < 10'000'000 ? static_cast<uint64_t>(ps) : 0;
}

}  // namespace

Collector::Collector(RecordingWriter writer, Doorbell& doorbell, std::vector<Where> conditions, CallRules rules,
                     SnapshotRules snapshots)
    : writer_(std::move(writer)),
      conditions_(std::make_shared<const std::vector<Where>>(std::move(conditions))),
      rules_(std::move(rules)),
      doorbell_(doorbell) {
  files_ = snapshots.files;
  if (files_.create) {
    store_ = std::make_unique<DescriptionStore>(&thread_exists);
    writer_ = RecordingWriter::into(*store_);
  }
  if (snapshots.bytes != 0) flight_ = std::make_unique<FlightRecorder>(std::move(snapshots));
}

Collector::~Collector() {
  if (thread_.joinable()) (void)stop();
}

Result<> Collector::start(void (*on_thread)()) {
  if (flight_) {
    flight_->forward_to(observer_);
    observer_ = flight_.get();
  }
  for (auto& watch : watches_) {
    watch->forward_to(observer_);
    observer_ = watch.get();
  }
  if (finish_) {
    finish_->forward_to(observer_);
    observer_ = finish_.get();
  }
  start_ = read_clocks();  // the thread may not be scheduled before the program has run for a while
  try {
    thread_ = std::thread([this, on_thread] {
      on_thread();
      hook_costs_.stamp_ns = measure_stamp_ns();
      run();
    });
  } catch (const std::system_error& error) {
    return Error{fmt::format("cannot start a thread: {}", errno_text(error.code().value()))};
  }
  return ok();
}

void Collector::post(News news) {
  {
    std::lock_guard hold(mutex_);
    news_.push_back(std::move(news));
  }
  doorbell_.ring();
}

// The recording's time starts with the first process.
std::unique_ptr<ChunkFilter> Collector::make_filter(const Process& process) {
  if (!rules_have_start_) {
    if (rules_.begin != 0) rules_.begin += process.start_ticks;
    for (uint64_t* end : {&rules_.end, &rules_.earliest_end})
      if (*end < UINT64_MAX - process.start_ticks) *end += process.start_ticks;
    rules_have_start_ = true;
  }
  if (conditions_->empty() && !rules_.any() && !wanted_) return nullptr;
  auto filter = std::make_unique<ChunkFilter>(process.number, conditions_, rules_.any() ? &rules_ : nullptr, budget_,
                                              process.forked_by != 0, wanted_);
  filter->set_switches(switches_);
  return filter;
}

void Collector::add(Process process, ChannelMap channel) {
  auto sink = std::make_shared<ChunkSink>(process.number, counts_, flight_ != nullptr, budget_);
  sink->set_time_shift(time_shift_);
  auto drain = std::make_unique<ProcessDrain>(std::move(channel), process.number, process.pid, make_filter(process),
                                              std::move(sink), budget_);
  channels_.fetch_add(1, std::memory_order_relaxed);
  {
    std::lock_guard hold(mutex_);
    held_.insert(drain->file());
  }
  post(Added{std::move(process), std::move(drain)});
}

bool Collector::holds(const ChannelMap& channel) {
  std::lock_guard hold(mutex_);
  return held_.count(channel.file()) != 0;
}

void Collector::end(uint32_t number, EndKind how, int code, uint64_t processor_ns, uint64_t ticks) {
  post(Ended{number, how, code, processor_ns, ticks});
}

void Collector::left_unanswered(uint32_t pid, bool is_recorded) { post(LeftUnanswered{pid, is_recorded}); }

void Collector::note(std::string sentence, bool refused, uint32_t missed) {
  post(Note{std::move(sentence), refused, missed});
}

void Collector::switch_kinds(uint32_t classes, bool on) {
  if (on)
    kinds_off_.fetch_and(~classes, std::memory_order_relaxed);
  else
    kinds_off_.fetch_or(classes, std::memory_order_relaxed);
  post(KindSwitch{classes, on});
  (void)wait_for_switch();
}

std::optional<size_t> Collector::change_filters(FilterChange change) {
  post(std::move(change));
  if (!wait_for_switch()) return std::nullopt;
  std::lock_guard hold(mutex_);
  return sites_counted_;
}

bool Collector::wait_for_switch() {
  const uint64_t mine = ++switches_posted_;
  std::unique_lock hold(mutex_);
  return switched_.wait_for(hold, std::chrono::seconds(1), [&] { return switches_done_ >= mine; });
}

double Collector::seconds_at(const ClockTriplet& now) const {
  return static_cast<double>(now.monotonic_ns - start_.monotonic_ns) / 1e9;
}

// No chunk that was drained so far has a later event, so the same time holds for all processes.
void Collector::apply(const KindSwitch& news) {
  const ClockTriplet now = read_clocks();
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i) {
    if ((news.classes >> i & 1) == 0 || !switches_->add(i, news.on, now.ticks)) continue;
    add_note(fmt::format("{} were switched {} after {:.3f} s{}", kClassNouns[i].many, news.on ? "on again" : "off",
                         seconds_at(now), news.on ? "" : ": what began from then on is not recorded"),
             news.on ? 0 : 1u << i);
  }
  filter_from_now();
}

void Collector::apply(FilterChange news) {
  const ClockTriplet now = read_clocks();
  add_note(fmt::format("{} after {:.3f} s{}", news.what, seconds_at(now), news.effect), news.missed);
  size_t count = 0;
  if (news.counted != nullptr)
    for (const auto& drain : drains_) count += drain->sites_with(*news.counted);
  changes_->add(now.ticks, std::move(news.conditions), std::move(news.functions));
  {
    const std::lock_guard hold(mutex_);
    sites_counted_ = count;
  }
  filter_from_now();
}

void Collector::filter_from_now() {
  for (auto& drain : drains_) drain->set_switches(switches_, changes_);
  const std::lock_guard hold(mutex_);
  ++switches_done_;
  switched_.notify_all();
}

Result<> Collector::stop(bool hurried) {
  if (hurried) patience_.begin(Budget::kStopMs);
  {
    std::lock_guard hold(mutex_);
    stop_requested_ = penna_now();
  }
  doorbell_.ring();
  thread_.join();
  return outcome_;
}

void Collector::run() {
  (void)writer_.write_clock(start_);
  last_clock_ns_ = start_.monotonic_ns;
  for (;;) {
    // Read before looking for work: anything that arrives later changes the count, and wait() returns at once.
    uint32_t bell = doorbell_.seen();
    bool stopping = take_news();
    bool worked = drain_all();
    write_clock_sometimes();
    // Everything announced before stop() has been applied by now: take_news() has seen both under one lock.
    if (stopping) break;
    write_open_chunks_sometimes();
    if (observer_ != nullptr) look_at_open_chunks();
    take_snapshot_if_due();
    finish_if_due();
    finish_if_full();
    if (!worked) doorbell_.wait(bell, observer_ != nullptr ? look_ms() : until_open_chunks_ms());
  }
  for (const auto& drain : drains_)
    end_process(*drain, {drain->number(), EndKind::kStopped, 0, processor_ns(drain->pid()), end_ticks()}, false);
  // They have handed over everything that was open. What their processes write from now on is not part of the
  // recording.
  drains_.clear();
  if (store_ && flight_->takes_the_end()) flight_->ask({"the recording ended", end_ticks(), true});
  take_snapshot_if_due();
  finish_if_due();
  if (flight_) flight_->end(writer_, end_ticks());
  const ClockTriplet ended = read_clocks();
  (void)writer_.write_clock(ended);
  health_.event_cost_ps[PENNA_LOCKS] = record_cost_ps(began_, ended, record_cost_ticks_);
  if (observer_ != nullptr) observer_->up_to_date();
  totals_.stored = counts_->stored;
  totals_.call_entries = counts_->call_entries;
  totals_.torn = counts_->torn;
  totals_.raw_bytes = counts_->raw_bytes;
  health_ = health_so_far();
  totals_.thrown_away = health_.thrown_away;
  totals_.snapshots = health_.snapshots;
  totals_.snapshots_suppressed = health_.snapshots_suppressed;
  health_.points_left_out = totals_.points_left_out;
  health_.calls_left_out = totals_.calls_left_out;
  health_.events_left_out = totals_.events_left_out;
  health_.others_left_out = totals_.others_left_out;
  health_.late_threads = totals_.late_threads;
  note_unrecorded();
  note_limits();
  (void)writer_.write_collector(health_);
  if (last_words_ && !patience_.has_begun()) last_words_(writer_);
  outcome_ = writer_.finish();
}

// Beyond the limit, the last note accumulates what the further ones miss.
void Collector::add_note(std::string sentence, uint32_t missed) {
  if (health_.notes.size() < kMostNotes) {
    health_.notes.push_back(std::move(sentence));
    health_.missed_by_notes.resize(health_.notes.size());
  }
  health_.missed_by_notes.back() |= missed;
}

void Collector::note_unrecorded() {
  totals_.unrecorded = programs_.unrecorded();
  totals_.unrecorded_unreported = leaves_others_ ? 0 : programs_.unreported();
  if (leaves_others_)
    std::erase_if(totals_.unrecorded, [&](const UnrecordedProgram& one) { return pids_.count(one.pid) == 0; });
  for (size_t i = 0; i < totals_.unrecorded.size() && health_.notes.size() < kMostNotes - 1; ++i)
    add_note(unrecorded_sentence(totals_.unrecorded[i]), kNoteOfAllClasses);
  if (health_.notes.size() >= kMostNotes - 1 || totals_.unrecorded_unreported != 0)
    add_note(unrecorded_summary(totals_.unrecorded, totals_.unrecorded_unreported), kNoteOfAllClasses);
}

void Collector::note_limits() {
  if (totals_.switched_out != 0)
    add_note(fmt::format("{} began while their kind was switched off",
                         totals_.switched_out == 1 ? "1 event" : fmt::format("{} events", totals_.switched_out)),
             0);
  const uint32_t missed = totals_.abandoned_chunks != 0 ? kNoteOfAllClasses | kNoteOfHalf : 0;
  if (totals_.abandoned_chunks != 0)
    totals_.limits.push_back(fmt::format(
        "when told to stop, the recorder discarded {} of 64 KiB: processes had queued more than it could take in {} s",
        totals_.abandoned_chunks == 1 ? "a chunk" : fmt::format("{} chunks", totals_.abandoned_chunks),
        Budget::kStopMs / 1000));
  if (budget_->threads_reached())
    totals_.limits.push_back(
        fmt::format("there were more threads than the {} that are tracked separately: the others are counted together",
                    Budget::kThreads));
  if (budget_->state_reached())
    totals_.limits.push_back(
        fmt::format("there were more open calls, functions and points than fit into the {} MiB kept for them: some "
                    "are in the recording that filters would have left out",
                    Budget::kStateBytes >> 20));
  for (const std::string& limit : totals_.limits) add_note(limit, &limit == totals_.limits.data() ? missed : 0);
}

// Takes over news from other threads; true: stop was requested.
bool Collector::take_news() {
  std::vector<News> news;
  {
    std::lock_guard hold(mutex_);
    news.swap(news_);
    stop_ticks_ = stop_requested_;
  }
  // Processes go on meanwhile, and might fill chunks as fast as they are drained.
  for (auto& drain : drains_) drain->stop_at(end_ticks());
  drained_.clear();
  for (News& one : news) std::visit([&](auto& said) { apply(std::move(said)); }, one);
  return stop_ticks_ != UINT64_MAX;
}

void Collector::apply(Added news) {
  ++totals_.processes;
  const Process& process = news.process;
  ProcessDrain& drain = *news.drain;
  if (leaves_others_) pids_.insert(process.pid);
  (void)writer_.write_process(process);
  const bool needs_parent = observer_ != nullptr || drain.filter() != nullptr;
  ProcessDrain* const parent = needs_parent && process.forked_by != 0 ? drained_parent(process) : nullptr;
  if (observer_ != nullptr) begin_for_observer(process, parent);
  drain.set_observer(observer_);
  drain.set_flight_recorder(flight_.get());
  drain.set_started_programs(&programs_);
  drain.set_patience(&patience_);
  drain.look_at_threads();
  if (process.after_exec) programs_.met(process.pid, process.start_ticks);
  inherit(process, drain, parent);
  drain.stop_at(end_ticks());
  if (switches_->any() || changes_->any()) drain.set_switches(switches_, changes_);
  drains_.push_back(std::move(news.drain));
}

void Collector::apply(const Ended& news) {
  const auto ended =
      std::find_if(drains_.begin(), drains_.end(), [&](const auto& one) { return one->number() == news.number; });
  if (ended == drains_.end()) return;
  end_process(**ended, news, true);
  {
    std::lock_guard hold(mutex_);
    held_.erase((*ended)->file());
  }
  drains_.erase(ended);
  channels_.fetch_sub(1, std::memory_order_relaxed);
}

void Collector::apply(Note news) {
  health_.refused_channels += news.refused ? 1 : 0;
  add_note(std::move(news.sentence), news.missed);
}

// The thread that forked handed over its chunk before the fork; it may still be in the ring and is taken. Once for all
// children announced together, because a program that forks continuously has many. Null: the parent has ended.
ProcessDrain* Collector::drained_parent(const Process& child) {
  const auto parent =
      std::find_if(drains_.rbegin(), drains_.rend(), [&](const auto& one) { return one->pid() == child.parent_pid; });
  if (parent == drains_.rend()) return nullptr;
  if (drained_.insert((*parent)->number()).second) (*parent)->drain_full(writer_);
  return parent->get();
}

// The parent's events before the fork come first: the child's calls are nested in those that were open there.
void Collector::begin_for_observer(const Process& process, ProcessDrain* parent) {
  if (parent != nullptr) parent->show_open_chunks(writer_);
  observer_->began(process);
}

void Collector::inherit(const Process& child, ProcessDrain& drain, const ProcessDrain* parent) {
  if (child.after_exec) left_open_.erase(child.pid);
  if (child.forked_by == 0 || child.fork_ticks == child.start_ticks || drain.filter() == nullptr) return;
  const RecentOpenCalls* then = nullptr;
  if (parent != nullptr && parent->filter() != nullptr) {
    then = &parent->filter()->open_then();
  } else if (const auto left = left_open_.find(child.parent_pid); left != left_open_.end()) {
    then = &left->second;
  }
  if (const auto* pcs = then != nullptr ? then->at(child.forked_by, child.fork_ticks) : nullptr)
    drain.inherit(*pcs, child.fork_ticks);
}

bool Collector::drain_all() {
  size_t taken = 0;
  // In turns: a process that floods its ring must not keep the others' chunks from being returned.
  const size_t turn = observer_ != nullptr && is_eager() ? kEagerTurn : kTurn;
  for (auto& drain : drains_) {
    taken += drain->drain(writer_, turn);
    drain->reclaim(writer_);
  }
  return taken != 0;
}

void Collector::end_process(ProcessDrain& drain, const Ended& end, bool gone) {
  const ClockTriplet now = read_clocks();
  if (hook_costs_.call_ns == 0 && drain.calls_at_once()) hook_costs_.call_ns = measure_call_hook_ns();
  drain.set_clock(static_cast<double>(now.monotonic_ns - began_.monotonic_ns) /
                      static_cast<double>(std::max<uint64_t>(now.ticks - began_.ticks, 1)),
                  hook_costs_);
  drain.report_cpu_ns(end.processor_ns);
  drain.finish(writer_, gone, end.how, end.code, end.ticks);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) totals_.lost[i] = add_counts(totals_.lost[i], drain.lost()[i]);
  for (int i = 0; i < PENNA_LOSS_COUNT; ++i) totals_.lost_for[i] = add_counts(totals_.lost_for[i], drain.lost_for()[i]);
  if (drain.number() == 0) {
    // The first process is the one that the user started, or attached to.
    totals_.start_cost_ticks = drain.start_cost_ticks();
    record_cost_ticks_ = drain.record_cost_ticks();
  }
  if (Slowdown(drain.end()).cost_ns > Slowdown(totals_.costliest).cost_ns) {
    totals_.costliest = drain.end();
    totals_.costliest_pid = drain.pid();
  }
  totals_.threads_blocked_ticks = add_counts(totals_.threads_blocked_ticks, drain.blocked_ticks());
  totals_.abandoned_chunks += drain.abandoned_chunks();
  totals_.restricted_processes += drain.restricted_processes();
  add_counters(totals_.target, drain.end().counters);
  if (const ChunkFilter* filter = drain.filter()) {
    // A forked child may connect after its parent has ended, but not much later.
    if (left_open_.size() >= kMostLeft) left_open_.clear();
    left_open_.erase(drain.pid());
    left_open_.emplace(drain.pid(), drain.take_open_then());
    totals_.points_left_out += filter->points_left_out();
    totals_.sites_with_condition += filter->sites_matched();
    totals_.calls_left_out += filter->calls_left_out();
    totals_.events_left_out += filter->events_left_out();
    totals_.others_left_out += filter->others_left_out();
    totals_.switched_out += filter->switched_out();
    totals_.late_threads += filter->late_threads();
  }
  health_.max_backlog = std::max(health_.max_backlog, drain.max_backlog());
}

void Collector::write_open_chunks_sometimes() {
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (last_open_ns_ == 0) last_open_ns_ = now;
  if (now - last_open_ns_ < static_cast<uint64_t>(open_ms_) * 1'000'000) return;
  last_open_ns_ = now;
  for (auto& drain : drains_) {
    drain->look_at_threads();
    drain->report_cpu_ns(processor_ns(static_cast<pid_t>(drain->pid())));
    drain->write_open_chunks(writer_);
  }
}

int Collector::until_open_chunks_ms() const {
  const uint64_t passed = (clock_ns(CLOCK_MONOTONIC) - last_open_ns_) / 1'000'000;
  const auto wait = static_cast<uint64_t>(open_ms_);
  return passed < wait ? static_cast<int>(wait - passed) : 1;
}

bool Collector::is_eager() const { return clock_ns(CLOCK_MONOTONIC) - start_.monotonic_ns < kEagerNs; }
int Collector::look_ms() const { return is_eager() ? kEagerLookMs : kLookMs; }

// Chunks that become full meanwhile ring the bell.
void Collector::look_at_open_chunks() {
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (now - last_look_ns_ < static_cast<uint64_t>(look_ms()) * 1'000'000) return;
  for (auto& drain : drains_) drain->show_open_chunks(writer_);
  observer_->up_to_date();
  last_look_ns_ = now;
}

bool Collector::ask_for_snapshot() {
  if (!flight_) return false;
  asked_for_snapshot_ = true;
  doorbell_.ring();
  return true;
}

// Chunks that are still being filled belong to the snapshot, too.
void Collector::take_snapshot_if_due() {
  if (!flight_) return;
  if (asked_for_snapshot_.exchange(false)) flight_->ask({"asked for by penna ctl", penna_now(), true});
  if (store_) {
    if (flight_->is_due()) write_snapshot();
    forget_gone();
  } else if (flight_->take_snapshot_if_due(writer_)) {
    for (auto& drain : drains_) drain->write_open_chunks(writer_);
  }
}

// A file that is complete in itself. What comes next is kept for another one.
void Collector::write_snapshot() {
  Result<RecordingWriter> file = files_.create();
  if (!file) {
    flight_->could_not_store();
    add_note("a snapshot could not be written: " + file.error().text, 0);
    return;
  }
  for (auto& drain : drains_) drain->drain_full(writer_);
  store_->write(*file);
  flight_->store_in(*file, writer_);
  for (auto& drain : drains_) drain->copy_open_chunks(*file);
  // A stack is in the tree before the event that refers to it.
  for (auto& drain : drains_) drain->write_new_stacks(writer_);
  const ClockTriplet now = read_clocks();
  for (auto& drain : drains_) drain->write_state(*file, now.ticks);
  store_->write_rest(*file);
  (void)file->write_clock(now);
  CollectorHealth health = health_so_far();
  health.snapshots = 1;
  health.snapshot_cause = flight_->cause().text;
  health.snapshot_ticks = flight_->cause().ticks;
  for (auto& drain : drains_) drain->begin_file();
  counts_->stored = {};
  counts_->call_entries = counts_->chunks = counts_->raw_bytes = counts_->torn = 0;
  files_.take(std::move(*file), std::move(health));
}

void Collector::forget_gone() {
  for (const uint32_t process : flight_->take_gone()) store_->forget(process);
}

// As far as it is known before the end.
CollectorHealth Collector::health_so_far() const {
  CollectorHealth health = health_;
  health.chunks = counts_->chunks;
  health.raw_bytes = counts_->raw_bytes;
  health.processes = totals_.processes;
  health.thrown_away = counts_->thrown_away;
  health.snapshots = flight_ ? flight_->snapshots() : 0;
  health.snapshots_suppressed = flight_ ? flight_->suppressed() : 0;
  health.cpu_ns = thread_cpu_ns();
  return health;
}

Result<> Collector::make_finished_fd() {
  if (!finished_) finished_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!finished_) return Error{fmt::format("cannot make an eventfd: {}", errno_text(errno))};
  return ok();
}

Result<> Collector::set_finish(CallRules functions) {
  PENNA_TRY(make_finished_fd());
  finish_ = std::make_unique<FinishWatch>(std::move(functions));
  return ok();
}

Result<> Collector::set_most_bytes(uint64_t bytes) {
  PENNA_TRY(make_finished_fd());
  most_bytes_ = bytes;
  return ok();
}

void Collector::finish_if_full() {
  if (totals_.full || writer_.file_bytes() < most_bytes_) return;
  totals_.full = true;
  full_ticks_ = penna_now();
  for (auto& drain : drains_) drain->stop_at(full_ticks_);
  const uint64_t one = 1;
  (void)!::write(finished_.get(), &one, sizeof one);
}

// A thread that entered such a function earlier may be seen later.
void Collector::finish_if_due() {
  if (!finish_ || !finish_->is_over() || health_.finish_ticks == finish_->ticks()) return;
  health_.finish_ticks = finish_->ticks();
  health_.finish_process = finish_->process();
  health_.finish_pc = finish_->pc();
  totals_.finished = true;
  // The entry itself is part of the recording.
  for (auto& drain : drains_) drain->end_at(finish_->ticks() + 1);
  const uint64_t one = 1;
  (void)!::write(finished_.get(), &one, sizeof one);
}

// Readers interpolate between these: one per second is plenty.
void Collector::write_clock_sometimes() {
  const uint64_t ns = monotonic_coarse_ns();
  if (ns < last_clock_ns_ + 1'000'000'000) return;
  last_clock_ns_ = ns;
  (void)writer_.write_clock(read_clocks());
}

}  // namespace penna
