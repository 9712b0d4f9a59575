// SPDX-License-Identifier: MIT
// SnapshotShelf: the files of a flight recorder's snapshots (penna record --on): app.1.penna, app.2.penna, ...
//
// Why a thread: names take seconds and servers longer, and the collector must not wait for either.
// Invariant: at most `most` files, the newest, are there at any time, besides one that is being finished or pushed; of
// several the ones that a server has already go first. What is deleted before a server had it is counted. An existing
// file is never overwritten, unless asked.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "options/push_options.h"
#include "recording/writer.h"
#include "session/verb_process.h"
#include "symbols/elf/other_roots.h"

namespace penna {

struct ShelfPlan {
  std::string base;   // "app": before ".1.penna"
  WriterOptions how;  // of each file
  size_t most = 10;   // files
  PushTarget push;    // without a URL: they are not pushed
  bool quiet = false;
  sigset_t mask{};  // the signal mask that we were started with
  Session session;
  const OtherRoots* roots = nullptr;  // of the recorded processes
};

class SnapshotShelf {
 public:
  // Error: files cannot be written there.
  static Result<std::unique_ptr<SnapshotShelf>> open(ShelfPlan plan);
  SnapshotShelf(const SnapshotShelf&) = delete;
  SnapshotShelf& operator=(const SnapshotShelf&) = delete;
  ~SnapshotShelf();  // without a last try to push

  // The next file, with its session; and taking it back to be finished. By the collector, from any one thread.
  Result<RecordingWriter> create();
  void take(RecordingWriter file, CollectorHealth health);

  // Waits until all files are finished; no more come.
  void finish_files();
  // Then: tries once more to push those that no server has. ended_fd() becomes readable when that is over, which
  // hurry() makes soon; what was not sent is noted for 'penna push'.
  void begin_last_push();
  int ended_fd() const { return ended_.get(); }
  void hurry();

  // After finish_files(): what there is, as a sentence; the newest file, empty if there is none.
  std::string summary() const;
  const std::string& newest() const { return newest_; }

 private:
  struct File {
    std::string path;
    bool is_pushed = false;
    bool was_tried = false;
  };
  struct Taken {
    RecordingWriter file;
    CollectorHealth health;
  };
  SnapshotShelf(ShelfPlan plan, Fd ended);
  void run();
  void finish(Taken taken, bool with_names);
  void make_room();
  void forget(const std::string& path, bool is_pushed);
  void push_one(std::unique_lock<std::mutex>& hold);
  void push_rest(std::unique_lock<std::mutex>& hold);
  bool push(std::unique_lock<std::mutex>& hold, File& file, bool once);
  File* unpushed();

  ShelfPlan plan_;
  Fd ended_;
  unsigned number_ = 0;  // of the file created last; the collector's thread, like the next
  bool is_failing_ = false;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Taken> taken_;
  std::deque<File> files_;  // finished ones, oldest first
  uint64_t made_ = 0, deleted_ = 0, deleted_unpushed_ = 0;
  std::string newest_;
  bool is_written_ = false;  // the collector has one, or is about to
  bool is_finishing_ = false, no_more_ = false, last_push_ = false, hurries_ = false;
  std::chrono::steady_clock::time_point next_push_{};
  std::chrono::seconds pause_{0};
  std::optional<VerbProcess> pusher_;
  std::string being_pushed_;  // by it
  std::thread thread_;
};

}  // namespace penna
