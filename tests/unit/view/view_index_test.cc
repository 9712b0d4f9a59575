// SPDX-License-Identifier: MIT
// The index answers like the tracks in memory, for any range and zoom of random recordings; and whatever its file
// contains, the worst outcome is that it is rebuilt.
#include "view/tracks/view_index.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "../model/random_records.h"
#include "../report/sample_recording.h"
#include "column_reader.h"
#include "view/data/view_data.h"

namespace penna::view_index_test {
namespace {

constexpr uint32_t kPoint = 1, kSpan = 2, kSpanEnd = 3;

// Nested calls and spans, most of them short; allocations, locks, waits and points between them.
void live_at_random(ThreadBuilder& thread, std::mt19937_64& random, int events) {
  std::vector<uint64_t> open;
  uint64_t time = 5'000 + random() % 1000;
  const auto up_to = [&](uint64_t most) { return random() % most; };
  for (int i = 0; i < events; ++i) {
    time += up_to(30);
    if (up_to(3000) == 0) time += up_to(200'000);
    const uint64_t what = up_to(100);
    if (what < 50 && (open.size() < 4 || up_to(open.size()) < 5)) {
      const uint64_t pc = what == 0 ? 0 : kSampleCode + up_to(4) * 0x100;
      pc == 0 ? thread.point(kSpan, time, {up_to(9)}) : thread.enter(pc, time);
      open.push_back(pc);
    } else if (what < 92 && !open.empty()) {
      open.back() == 0 ? thread.point(kSpanEnd, time, {}) : thread.exit(open.back(), time);
      open.pop_back();
    } else if (what < 94) {
      thread.alloc(0xa000 + up_to(64) * 16, 16, time);
    } else if (what < 96) {
      thread.lock(kSampleLock + up_to(3) * 64, time);
      thread.unlock(kSampleLock + up_to(3) * 64, time += up_to(20));
    } else if (what == 96) {
      const uint64_t begin = time;
      time += up_to(50) == 0 ? up_to(50'000) : up_to(300);
      thread.waited(kSampleLock + up_to(3) * 64, begin, time, 0, 1001);
    } else {
      thread.point(kPoint, time, {up_to(1000)});
    }
  }
}

struct Viewed {
  Viewed(const Recording& recording, TrackOptions options)
      : names(recording, symbols), data(recording, names, std::move(options)) {}
  SampleSymbols symbols;
  Names names;
  ViewData data;
  std::string name(uint32_t id) { return data.ids().name(id); }
};

class ViewIndexTest : public testing::Test {
 protected:
  static Site site(uint32_t id, penna_site_kind kind, const char* name, bool has_argument = true) {
    Site site;
    site.id = id;
    site.kind = kind;
    site.provider = "test";
    site.name = name;
    if (has_argument) site.arguments = {{PENNA_ARG_UINT, "value"}};
    return site;
  }
  uint32_t process(uint32_t pid) {
    const uint32_t process = build_.process(pid);
    build_.module(process, sample_module());
    build_.site(process, site(kPoint, PENNA_SITE_EVENT, "point"));
    build_.site(process, site(kSpan, PENNA_SITE_SPAN, "span"));
    build_.site(process, site(kSpanEnd, PENNA_SITE_SPAN_END, "span", false));
    return process;
  }
  void open() {
    recording_.emplace(build_.open());
    std::filesystem::create_directory(directory_);
    path_ = directory_ + "/it.view";
  }
  ~ViewIndexTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Viewed> in_memory() {
    TrackOptions options;
    options.most_in_memory = UINT64_MAX;
    return std::make_unique<Viewed>(*recording_, std::move(options));
  }
  std::unique_ptr<Viewed> indexed() {
    TrackOptions options;
    options.most_in_memory = 0;
    options.spans_of_leaf = 1000;
    options.index_paths = {path_};
    options.step = [this](uint64_t events) { read_ += events; };
    options.say = [this](const std::string& sentence) { said_ = sentence; };
    auto viewed = std::make_unique<Viewed>(*recording_, std::move(options));
    EXPECT_FALSE(viewed->data.prepare());
    return viewed;
  }

  // As they are counted while they are read, a pair of entry and exit as two.
  uint64_t recording_events() const { return summarize(*recording_).total_events(); }

  RecordingBuilder build_;
  std::optional<Recording> recording_;
  const std::string directory_ = testing::TempDir() + "view_index_test." + std::to_string(::getpid());
  std::string path_, said_;
  uint64_t read_ = 0;  // events, for indexes that were made
};

using Slice = std::tuple<uint32_t, double, double, std::string, uint8_t>;
struct SeenSlices {
  std::vector<Slice> slices;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, double>> sums;  // by depth and pixel: calls, time
  std::map<std::pair<uint32_t, uint32_t>, std::string> names;
};

SeenSlices slices_of(Viewed& viewed, uint32_t thread, const PixelView& view) {
  const ColumnReader read(viewed.data.store().slices_answer(thread, view));
  SeenSlices all;
  const auto start = read.column<double>("start"), duration = read.column<double>("duration");
  const auto depth = read.column<uint32_t>("depth"), name = read.column<uint32_t>("name");
  const auto flags = read.column<uint8_t>("flags");
  for (size_t i = 0; i < start.size(); ++i)
    all.slices.push_back({depth[i], start[i], duration[i], viewed.name(name[i]), flags[i]});
  std::sort(all.slices.begin(), all.slices.end());
  const auto d_depth = read.column<uint32_t>("d_depth"), d_px = read.column<uint32_t>("d_px");
  const auto d_count = read.column<uint32_t>("d_count"), d_name = read.column<uint32_t>("d_name");
  const auto d_time = read.column<double>("d_time");
  for (size_t i = 0; i < d_depth.size(); ++i) {
    auto& sum = all.sums[{d_depth[i], d_px[i]}];  // a border between pixels may split one
    sum.first += d_count[i], sum.second += d_time[i];
    if (d_name[i] != 0) all.names[{d_depth[i], d_px[i]}] = viewed.name(d_name[i]);
  }
  return all;
}

// Of each depth, all there is; and up to each pixel no more than is there up to the next one, and no less than up to the
// one before.
void expect_same_sums(const SeenSlices& indexed, const SeenSlices& direct, uint32_t pixels) {
  std::map<uint32_t, std::vector<std::pair<uint64_t, double>>> by_depth[2];
  const SeenSlices* const both[] = {&indexed, &direct};
  for (int which = 0; which < 2; ++which)
    for (const auto& [place, sum] : both[which]->sums) {
      auto& of_depth = by_depth[which].try_emplace(place.first, pixels).first->second;
      of_depth[place.second] = sum;
    }
  ASSERT_EQ(by_depth[0].size(), by_depth[1].size());
  for (auto& [depth, sums] : by_depth[0]) {
    const auto& others = by_depth[1][depth];
    ASSERT_EQ(others.size(), pixels);
    uint64_t count = 0, before = 0, behind = others[0].first;
    double time = 0, all = 0;
    for (uint32_t pixel = 0; pixel < pixels; ++pixel) {
      count += sums[pixel].first, time += sums[pixel].second, all += others[pixel].second;
      if (pixel + 1 < pixels) behind += others[pixel + 1].first;
      EXPECT_GE(count, before) << depth << ' ' << pixel;
      EXPECT_LE(count, behind) << depth << ' ' << pixel;
      before += others[pixel].first;
    }
    EXPECT_EQ(count, before);
    EXPECT_EQ(time, all);
  }
}

void expect_same_waits(Viewed& indexed, Viewed& direct, uint32_t thread, const PixelView& view, bool whole) {
  using Wait = std::tuple<double, double, std::string, uint8_t, int32_t>;
  using Hold = std::tuple<double, double, std::string>;
  std::vector<Wait> waits[2];
  std::vector<Hold> holds[2];
  std::map<std::pair<std::string, int32_t>, uint64_t> counts[2];
  std::map<std::string, uint64_t> hold_counts[2];
  Viewed* const both[] = {&indexed, &direct};
  for (int which = 0; which < 2; ++which) {
    const ColumnReader read(both[which]->data.store().waits_answer(thread, view));
    const auto start = read.column<double>("start"), duration = read.column<double>("duration");
    const auto lock = read.column<uint32_t>("lock"), count = read.column<uint32_t>("count");
    const auto holder = read.column<int32_t>("holder");
    const auto kind = read.column<uint8_t>("kind");
    const auto is_shown = [&](double begin, double length, uint32_t number) {
      return number == 1 && length >= view.ns_per_pixel() && begin + length > static_cast<double>(view.t0);
    };
    for (size_t i = 0; i < start.size(); ++i) {
      const std::string name = both[which]->name(lock[i]);
      counts[which][{name, holder[i]}] += count[i];
      if (is_shown(start[i], duration[i], count[i]))
        waits[which].push_back({start[i], duration[i], name, kind[i], holder[i]});
    }
    const auto h_start = read.column<double>("h_start"), h_duration = read.column<double>("h_duration");
    const auto h_lock = read.column<uint32_t>("h_lock"), h_count = read.column<uint32_t>("h_count");
    for (size_t i = 0; i < h_start.size(); ++i) {
      const std::string name = both[which]->name(h_lock[i]);
      hold_counts[which][name] += h_count[i];
      if (is_shown(h_start[i], h_duration[i], h_count[i])) holds[which].push_back({h_start[i], h_duration[i], name});
    }
    std::sort(waits[which].begin(), waits[which].end());
    std::sort(holds[which].begin(), holds[which].end());
  }
  EXPECT_EQ(waits[0], waits[1]);
  EXPECT_EQ(holds[0], holds[1]);
  if (!whole) return;
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(hold_counts[0], hold_counts[1]);
}

void expect_same_points(Viewed& indexed, Viewed& direct, uint32_t thread, const PixelView& view) {
  uint64_t counts[2] = {0, 0};
  std::map<double, std::pair<std::string, std::string>> single[2];
  Viewed* const both[] = {&indexed, &direct};
  for (int which = 0; which < 2; ++which) {
    const ColumnReader read(both[which]->data.store().points_answer(thread, view));
    const auto time = read.column<double>("time");
    const auto name = read.column<uint32_t>("name"), count = read.column<uint32_t>("count");
    const auto text = read.column<uint32_t>("text");
    for (size_t i = 0; i < time.size(); ++i) {
      counts[which] += count[i];
      if (count[i] == 1) single[which][time[i]] = {both[which]->name(name[i]), both[which]->name(text[i])};
    }
  }
  EXPECT_EQ(counts[0], counts[1]);
  for (const auto& [time, what] : single[0]) {
    const auto found = single[1].find(time);
    if (found == single[1].end()) continue;  // beside another one of its pixel
    EXPECT_EQ(what.first, found->second.first);
    if (what.second != "?") {
      EXPECT_EQ(what.second, found->second.second);
    }
  }
}

std::map<std::string, std::pair<uint64_t, int64_t>> names_of(Viewed& viewed) {
  std::map<std::string, std::pair<uint64_t, int64_t>> names;
  viewed.data.store().each_name([&](TrackStore::Named kind, uint32_t name, uint64_t count, int64_t total) {
    auto& sums = names[std::to_string(static_cast<int>(kind)) + viewed.name(name)];
    sums.first += count;
    sums.second += total;
  });
  return names;
}

void expect_same_instances(Viewed& indexed, Viewed& direct, uint32_t thread, int64_t time) {
  for (const char* function : {"main", "work(int)", "grow", "take_lock", "test:span"}) {
    const auto find = [&](Viewed& viewed, std::optional<int64_t> before, std::optional<int64_t> after) {
      return viewed.data.store().find(thread, {viewed.data.ids().id(function), before, after});
    };
    const auto longest = find(indexed, {}, {}), really = find(direct, {}, {});
    ASSERT_EQ(longest.has_value(), really.has_value()) << function;
    if (longest) {
      EXPECT_EQ(longest->duration, really->duration);
    }
    for (const bool is_before : {false, true}) {
      const auto before = is_before ? std::optional(time) : std::nullopt,
                 after = is_before ? std::nullopt : std::optional(time);
      const auto one = find(indexed, before, after), other = find(direct, before, after);
      ASSERT_EQ(one.has_value(), other.has_value()) << function << ' ' << time << ' ' << is_before;
      if (one) {
        EXPECT_EQ(one->start, other->start) << function << ' ' << time << ' ' << is_before;
      }
    }
  }
}

TEST_F(ViewIndexTest, AnswersAreThoseOfTheEvents) {
  std::mt19937_64 random(3);
  const uint32_t first = process(100), second = process(200);
  live_at_random(build_.thread(first, 1), random, 90'000);
  live_at_random(build_.thread(first, 2), random, 300);
  live_at_random(build_.thread(second, 1), random, 40'000);
  open();
  const auto index = indexed(), direct = in_memory();
  const int64_t length = direct->data.summary()->duration_ns + 1;
  for (uint32_t thread = 0; thread < 3; ++thread) {
    ASSERT_EQ(index->data.store().rows(thread), direct->data.store().rows(thread));
    EXPECT_EQ(index->data.store().waits(thread), direct->data.store().waits(thread));
    for (int i = 0; i < 60; ++i) {
      const bool whole = i < 10;
      PixelView view{0, length, static_cast<uint32_t>(1 + random() % 2000)};
      if (!whole) {
        const int64_t width = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(length >> random() % 16));
        view.t0 = static_cast<int64_t>(random() % static_cast<uint64_t>(length));
        view.t1 = view.t0 + width;
      }
      SCOPED_TRACE(testing::Message() << thread << ": " << view.t0 << ' ' << view.t1 << ' ' << view.pixels);
      const SeenSlices one = slices_of(*index, thread, view), other = slices_of(*direct, thread, view);
      EXPECT_EQ(one.slices, other.slices);
      expect_same_sums(one, other, view.pixels);
      expect_same_waits(*index, *direct, thread, view, whole);
      expect_same_points(*index, *direct, thread, view);
      expect_same_instances(*index, *direct, thread, view.t0);
      if (testing::Test::HasFailure()) return;
    }
  }
  const PixelView whole{0, length, 999};
  EXPECT_EQ(index->data.store().counters().answer(whole), direct->data.store().counters().answer(whole));
  EXPECT_EQ(names_of(*index), names_of(*direct));
}

// Of the whole recording, whatever the rows are.
std::pair<uint64_t, double> all_calls(Viewed& viewed, uint32_t thread, const PixelView& view) {
  const SeenSlices all = slices_of(viewed, thread, view);
  std::pair<uint64_t, double> sums{all.slices.size(), 0};
  for (const Slice& one : all.slices) sums.second += std::get<2>(one);
  for (const auto& [place, sum] : all.sums) sums.first += sum.first, sums.second += sum.second;
  return sums;
}

void expect_same_totals(Viewed& index, Viewed& direct) {
  const int64_t length = direct.data.summary()->duration_ns + 1;
  for (uint32_t thread = 0; thread < direct.data.summary()->threads.size(); ++thread)
    for (const uint32_t pixels : {1u, 70u, 3000u}) {
      SCOPED_TRACE(testing::Message() << thread << ' ' << pixels);
      const PixelView view{0, length, pixels};
      EXPECT_EQ(all_calls(index, thread, view), all_calls(direct, thread, view));
      expect_same_waits(index, direct, thread, view, true);
      expect_same_points(index, direct, thread, view);
    }
  EXPECT_EQ(names_of(index), names_of(direct));
  const PixelView whole{0, length, 999};
  EXPECT_EQ(index.data.store().counters().answer(whole), direct.data.store().counters().answer(whole));
}

TEST_F(ViewIndexTest, NothingIsLostWhereCallsAreLeftByJumpsOrRecordsAreLies) {
  std::mt19937_64 random(11);
  const uint32_t first = process(100);
  for (uint32_t serial = 1; serial < 4; ++serial) call_at_random(build_.thread(first, serial), random, 30'000);
  for (uint32_t serial = 4; serial < 8; ++serial) fill_at_random(build_.thread(first, serial), random);
  open();
  expect_same_totals(*indexed(), *in_memory());
}

TEST_F(ViewIndexTest, OfAPartThereIsAnIndexOfThatPartAndItIsNotKept) {
  std::mt19937_64 random(5);
  live_at_random(build_.thread(process(100), 1), random, 60'000);
  open();
  CallRules rules;
  rules.begin = 300'000;
  rules.end = 900'000;
  rules.min_ticks = 40;
  Selection selection;
  selection.calls = std::make_shared<const CallRules>(std::move(rules));
  recording_->select(std::make_shared<const Selection>(std::move(selection)));
  expect_same_totals(*indexed(), *in_memory());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ViewIndexTest, IsMadeOnce) {
  std::mt19937_64 random(5);
  live_at_random(build_.thread(process(100), 1), random, 60'000);
  open();
  (void)indexed();
  EXPECT_EQ(read_, recording_events()) << "events that were read";
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  read_ = 0;
  (void)indexed();
  EXPECT_EQ(read_, 0u);
  EXPECT_EQ(said_, "");
}

TEST_F(ViewIndexTest, AFileThatIsNoIndexIsLeftAlone) {
  std::mt19937_64 random(5);
  live_at_random(build_.thread(process(100), 1), random, 5'000);
  open();
  std::ofstream(path_) << "somebody's notes";
  expect_same_totals(*indexed(), *in_memory());
  std::string line;
  std::getline(std::ifstream(path_), line);
  EXPECT_EQ(line, "somebody's notes");
  EXPECT_THAT(said_, testing::HasSubstr(path_));
}

TEST_F(ViewIndexTest, WhatIsDamagedOrOfAnotherRecordingIsMadeAgain) {
  std::mt19937_64 random(7);
  live_at_random(build_.thread(process(100), 1), random, 30'000);
  open();
  (void)indexed();
  std::string whole;
  {
    std::ifstream in(path_, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_GT(whole.size(), 1000u);
  const auto direct = in_memory();
  const std::pair<uint64_t, double> wanted = all_calls(*direct, 0, {0, direct->data.summary()->duration_ns + 1, 3000});
  for (int i = 0; i < 90; ++i) {
    std::string bytes = whole;
    const size_t at = i < 64 ? static_cast<size_t>(i) : random() % bytes.size();
    if (i % 5 == 4)
      bytes.resize(at);
    else
      bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
    // Not the file that was opened before: that one is read to its end.
    std::filesystem::remove(path_);
    {
      std::ofstream out(path_, std::ios::binary);
      out << bytes;
    }
    const auto index = indexed();
    const PixelView view{0, index->data.summary()->duration_ns + 1, 3000};
    std::pair<uint64_t, double> calls = all_calls(*index, 0, view);
    if (index->data.renew()) {
      ASSERT_FALSE(index->data.prepare());
      calls = all_calls(*index, 0, view);
    }
    // A file whose beginning is not ours is not replaced, and the index is none that is kept.
    EXPECT_EQ(calls, wanted) << i << ' ' << at;
  }
}

}  // namespace
}  // namespace penna::view_index_test
