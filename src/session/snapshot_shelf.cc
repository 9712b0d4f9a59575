// SPDX-License-Identifier: MIT
// See snapshot_shelf.h.
#include "session/snapshot_shelf.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/count_text.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/say.h"
#include "fleet/push_spool.h"
#include "model/names/last_names.h"
#include "report/units.h"

namespace penna {
namespace {

using Clock = std::chrono::steady_clock;

std::string path_of(const ShelfPlan& plan, unsigned number) { return fmt::format("{}.{}.penna", plan.base, number); }

std::string path_after(const ShelfPlan& plan, unsigned* number) {
  do {
    ++*number;
  } while (!plan.how.overwrite && is_taken(path_of(plan, *number)));
  return path_of(plan, *number);
}

// Whether files can be written there.
Result<> check(const ShelfPlan& plan) {
  unsigned number = 0;
  const std::string path = path_after(plan, &number);
  if (plan.how.overwrite && is_taken(path)) return ok();  // create() replaces it, or says why not
  const RecordingWriter probe = PENNA_TRY(RecordingWriter::create(path, plan.how));
  remove_own_file(path);
  return ok();
}

}  // namespace

Result<std::unique_ptr<SnapshotShelf>> SnapshotShelf::open(ShelfPlan plan) {
  PENNA_TRY(check(plan));
  Fd ended(::eventfd(0, EFD_CLOEXEC));
  if (!ended) return Error{"cannot make an eventfd: " + errno_text(errno)};
  return std::unique_ptr<SnapshotShelf>(new SnapshotShelf(std::move(plan), std::move(ended)));
}

SnapshotShelf::SnapshotShelf(ShelfPlan plan, Fd ended) : plan_(std::move(plan)), ended_(std::move(ended)) {
  thread_ = std::thread([this] { run(); });
}

SnapshotShelf::~SnapshotShelf() {
  hurry();
  begin_last_push();
  thread_.join();
}

Result<RecordingWriter> SnapshotShelf::create() {
  {
    std::lock_guard hold(mutex_);
    is_written_ = true;
    make_room();
  }
  Result<RecordingWriter> file = RecordingWriter::create(path_after(plan_, &number_), plan_.how);
  if (file)
    (void)file->write_session(plan_.session);
  else if (!std::exchange(is_failing_, true))
    say("a snapshot could not be written: " + file.error().text);
  is_failing_ = !file;
  if (file) return file;
  std::lock_guard hold(mutex_);
  is_written_ = false;
  return file;
}

void SnapshotShelf::take(RecordingWriter file, CollectorHealth health) {
  std::lock_guard hold(mutex_);
  is_written_ = false;
  taken_.push_back({std::move(file), std::move(health)});
  changed_.notify_all();
}

// So that there are no more than allowed, but for the one that is being finished and the one that is being pushed: they
// stay until they are.
void SnapshotShelf::make_room() {
  const auto too_many = [&] {
    return files_.size() + taken_.size() + (is_finishing_ ? 1 : 0) + (is_written_ ? 1 : 0) > plan_.most;
  };
  while (!files_.empty() && too_many()) {
    auto oldest = std::find_if(files_.begin(), files_.end(), [](const File& one) { return one.is_pushed; });
    const auto is_free = [&](const File& one) { return one.path != being_pushed_; };
    if (oldest == files_.end()) oldest = std::find_if(files_.begin(), files_.end(), is_free);
    if (oldest == files_.end()) break;
    forget(oldest->path, oldest->is_pushed);
    files_.erase(oldest);
  }
  // They come faster than they can be finished.
  for (; !taken_.empty() && too_many(); taken_.pop_front(), ++made_) forget(taken_.front().file.path(), false);
}

void SnapshotShelf::forget(const std::string& path, bool is_pushed) {
  ++deleted_;
  if (!plan_.push.server.url.empty() && !is_pushed) {
    ++deleted_unpushed_;
    forget_push(path, plan_.push.server);
  }
  remove_own_file(path);
}

void SnapshotShelf::run() {
  std::unique_lock hold(mutex_);
  while (!last_push_) {
    if (!taken_.empty()) {
      Taken taken = std::move(taken_.front());
      taken_.pop_front();
      is_finishing_ = true;
      const bool others_wait = !taken_.empty();
      hold.unlock();
      finish(std::move(taken), !others_wait);
      hold.lock();
      is_finishing_ = false;
      make_room();
      changed_.notify_all();
    } else if (unpushed() != nullptr && !no_more_ && Clock::now() >= next_push_) {
      push_one(hold);
    } else if (unpushed() != nullptr && !no_more_) {
      changed_.wait_until(hold, next_push_);
    } else {
      changed_.wait(hold);
    }
  }
  push_rest(hold);
  const uint64_t one = 1;
  (void)!::write(ended_.get(), &one, sizeof one);
}

// While other snapshots wait, names are left out: a reader finds them in the files.
void SnapshotShelf::finish(Taken taken, bool with_names) {
  (void)taken.file.write_collector(taken.health);
  if (plan_.how.remembers_code && with_names) write_last_names(taken.file, plan_.session, *plan_.roots);
  const Result<> finished = taken.file.finish();
  const std::string& path = taken.file.path();
  if (!finished) say(finished.error().text);
  if (finished && !plan_.quiet)
    say(fmt::format("{}: {}; {}", path, bytes_text(static_cast<int64_t>(taken.file.file_bytes())),
                    printable(taken.health.snapshot_cause)));
  std::lock_guard hold(mutex_);
  ++made_;
  newest_ = path;
  files_.push_back({path});
}

SnapshotShelf::File* SnapshotShelf::unpushed() {
  if (plan_.push.server.url.empty()) return nullptr;
  const auto one = std::find_if(files_.begin(), files_.end(), [](const File& file) { return !file.is_pushed; });
  return one == files_.end() ? nullptr : &*one;
}

// Retried less and less often while it fails; reported once.
void SnapshotShelf::push_one(std::unique_lock<std::mutex>& hold) {
  constexpr std::chrono::seconds kFirst{10}, kLongest{600};
  if (push(hold, *unpushed(), false)) {
    pause_ = {};
    return;
  }
  pause_ = std::clamp(pause_ * 2, kFirst, kLongest);
  next_push_ = Clock::now() + pause_;
}

// A server that does not answer to the first is not asked for long for the others: they are noted.
void SnapshotShelf::push_rest(std::unique_lock<std::mutex>& hold) {
  bool answers = !hurries_;
  std::vector<std::string> paths;
  for (const File& one : files_)
    if (!plan_.push.server.url.empty() && !one.is_pushed) paths.push_back(one.path);
  for (const std::string& path : paths) {
    const auto file = std::find_if(files_.begin(), files_.end(), [&](const File& one) { return one.path == path; });
    if (file != files_.end()) answers = push(hold, *file, !answers) && answers;
  }
}

// `once`: without trying again. Unlocks meanwhile; the file is found again by its path.
bool SnapshotShelf::push(std::unique_lock<std::mutex>& hold, File& file, bool once) {
  PushTarget target = plan_.push;
  if (once) target.give_up = Duration{1'000'000, "1ms"};
  const std::string path = file.path;
  const bool is_silent = std::exchange(file.was_tried, true) && !last_push_;
  Result<VerbProcess> started = VerbProcess::start(push_words(target, path, plan_.quiet), plan_.mask,
                                                   is_silent ? VerbProcess::Says::kNothing : VerbProcess::Says::kAll);
  if (!started) return false;
  pusher_.emplace(std::move(*started));
  being_pushed_ = path;
  hold.unlock();
  const bool is_done = pusher_->wait();
  hold.lock();
  pusher_.reset();
  being_pushed_.clear();
  for (File& one : files_)
    if (one.path == path) one.is_pushed = is_done;
  make_room();
  return is_done;
}

void SnapshotShelf::finish_files() {
  std::unique_lock hold(mutex_);
  no_more_ = true;
  if (pusher_) pusher_->request_end();  // it goes on at the end
  changed_.notify_all();
  changed_.wait(hold, [&] { return taken_.empty() && !is_finishing_; });
}

void SnapshotShelf::begin_last_push() {
  std::lock_guard hold(mutex_);
  last_push_ = true;
  changed_.notify_all();
}

void SnapshotShelf::hurry() {
  std::lock_guard hold(mutex_);
  hurries_ = true;
  if (pusher_) pusher_->request_end();
}

std::string SnapshotShelf::summary() const {
  std::lock_guard hold(mutex_);  // files may still be pushed, and others be deleted for them
  if (made_ == 0) return "no snapshot was taken: no condition of --on was met";
  std::string text =
      fmt::format("{} {} taken", plural_text(static_cast<int64_t>(made_), "snapshot"), made_ == 1 ? "was" : "were");
  if (deleted_ != 0)
    text += fmt::format(", and {} deleted, as --keep-snapshots is {}",
                        plural_text(static_cast<int64_t>(deleted_), "old one", "old ones"), plan_.most);
  if (deleted_unpushed_ != 0) text += fmt::format(" ({} before the server had them)", deleted_unpushed_);
  return text;
}

}  // namespace penna
