// SPDX-License-Identifier: MIT
// See view_index.h.
#include "view/tracks/view_index.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "model/blocks/allocations.h"
#include "model/events/processors.h"

namespace penna {
namespace {

// Threads of the recording, distributed to as many workers as there are processors: longest first.
class Workers {
 public:
  Workers(const Recording& recording, const IndexingTask& task, std::vector<TrackIndex>* tracks, Counters* counters,
          WalkReport* walk)
      : recording_(recording), task_(task), tracks_(*tracks), counters_(*counters), walk_(*walk) {
    order_.resize(recording.threads().size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t one, uint32_t other) {
      return recording.chunks(one).size() > recording.chunks(other).size();
    });
  }

  // `first`: work that one of them does first.
  void run(const std::function<void()>& first) {
    const size_t processors = usable_processors();
    ahead_ = order_.size() < 2 * processors;
    work_together(
        std::min(processors, order_.size()), [this] { work(); }, first);
    for (const Counters& one : parts_) counters_.add(one);
  }

 private:
  void work() {
    const CodeMap map(recording_);
    Counters counters = counters_.empty_copy();
    WalkReport walk;
    for (size_t at; (at = next_++) < order_.size() && !task_.stop;)
      tracks_[order_[at]] = index_thread(task_, order_[at], map, ahead_, &counters, &walk);
    const std::lock_guard hold(mutex_);
    parts_.push_back(std::move(counters));  // not yet to the others, which `first` may still be adding to
    walk_.add(walk);
  }

  const Recording& recording_;
  const IndexingTask& task_;
  std::vector<TrackIndex>& tracks_;
  Counters& counters_;
  std::mutex mutex_;  // guards both below
  std::vector<Counters> parts_;
  WalkReport& walk_;
  std::vector<uint32_t> order_;
  std::atomic<size_t> next_ = 0;
  bool ahead_ = false;
};

}  // namespace

bool reads_all(const Recording& recording) {
  return call_rules(recording) == nullptr && point_conditions(recording) == nullptr && !selects_threads(recording);
}

ViewIndex::ViewIndex(const Recording& recording, const Summary& summary)
    : recording_(recording),
      summary_(summary),
      counters_(summary.duration_ns, recording.processes().size(),
                [&recording, begin = summary.first_time](uint64_t ticks) {
                  return recording.time().duration_ns(begin, ticks);
                }) {}

bool ViewIndex::open(const std::string& path) {
  std::vector<uint8_t> tables;
  std::optional<IndexFile> file = IndexFile::open(path, identity_of(recording_), &tables);
  if (!file || !read(tables)) return false;
  file_.emplace(std::move(*file));
  return true;
}

bool ViewIndex::read(std::span<const uint8_t> bytes) {
  const std::optional<std::vector<uint8_t>> plain = unpack(bytes);
  if (!plain) return false;
  NumberReader in(*plain);
  tracks_.clear();
  if (in.count() != recording_.threads().size()) return false;
  for (size_t i = 0; i < recording_.threads().size(); ++i) {
    std::optional<TrackIndex> track = TrackIndex::read(in, recording_.threads().size());
    if (!track) return false;
    tracks_.push_back(std::move(*track));
  }
  return counters_.read(in) && in.at_end();
}

std::vector<uint8_t> ViewIndex::tables() const {
  NumberWriter out;
  out.number(tracks_.size());
  for (const TrackIndex& track : tracks_) track.write(out);
  counters_.write(out);
  return pack(out);
}

Result<> ViewIndex::make(const IndexMaking& making, const std::string& path) {
  file_.emplace(PENNA_TRY(IndexFile::create(path)));
  tracks_.assign(recording_.threads().size(), {});
  counters_ = counters_.empty_copy();
  walk_ = {};
  NumberMap<uint32_t> threads;
  for (uint32_t i = 0; i < recording_.threads().size(); ++i)
    threads[pair_key(recording_.threads()[i].process, recording_.threads()[i].tid)] = i;
  const auto store = [this](std::span<const uint8_t> bytes) { return file_->append(bytes); };
  const IndexingTask task{recording_,    summary_.first_time, threads, store, making.stop,
                          making.events, making.spans_of_leaf};
  Workers(recording_, task, &tracks_, &counters_, &walk_).run([&] {
    if (summary_.events[PENNA_ALLOC] == 0) return;
    AllocationOptions options;
    options.observer = &counters_;
    Allocations heap(recording_, std::move(options));
    // The same chunks again: `walk_` has what could not be read of them.
    for_each_event(recording_, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
      heap(event);
      return !making.stop;
    });
    heap.finish();
  });
  if (making.stop) return Error{"the index was not finished"};
  counters_.finish();
  if (file_->has_failed()) return Error{"there is no room for the index"};
  if (!file_->finish(identity_of(recording_), tables()) && !path.empty() && making.say)
    making.say("the index cannot be kept as " + path + ": it is made again the next time");
  return ok();
}

Result<std::unique_ptr<ViewIndex>> ViewIndex::open_or_make(const Recording& recording, const Summary& summary,
                                                           const IndexMaking& making) {
  std::unique_ptr<ViewIndex> index(new ViewIndex(recording, summary));
  std::vector<std::string> paths;
  if (reads_all(recording)) paths = making.paths;
  for (const std::string& path : paths)
    if (!making.anew && index->open(path)) return index;
  std::string trouble;
  for (const std::string& path : paths) {
    const Result<> made = index->make(making, path);
    if (made && !trouble.empty() && making.say) making.say(trouble + ": the index is " + path);
    if (made) return index;
    if (making.stop) return made.error();
    if (trouble.empty()) trouble = made.error().text;
  }
  PENNA_TRY(index->make(making, {}));
  if (!trouble.empty() && making.say) making.say(trouble + ": the index is made again the next time");
  return index;
}

}  // namespace penna
