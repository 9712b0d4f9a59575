// SPDX-License-Identifier: MIT
// StreamImport: streams written with penna/stream.h are restored from a recording; damage is counted, and costs nothing
// else.
#include "collect/import/stream_import.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "penna/stream.h"
#include "recording/reader.h"

namespace penna::stream_import_test {
namespace {

constexpr char kText[] = "kernel\0write\0module.c\0bytes\0who";
constexpr uint64_t kTypes = PENNA_ARG_UINT | PENNA_ARG_STRING << 4;

// A stream as its source writes it.
class Stream {
 public:
  Stream() {
    penna_stream_header header;
    penna_stream_begin(&header, "a test", 1'000, 2'000);
    begin_ = header.ticks;
    add(&header, sizeof header);
    uint64_t unit[PENNA_MAX_UNIT_WORDS];
    penna_unit_site(unit, 1, PENNA_SITE_EVENT, 42, 0x1000, kText, sizeof kText, 2, kTypes);
    add_unit(unit);
  }
  Stream& thread(uint32_t id, const char* name) {
    uint64_t unit[4];
    penna_unit_thread(unit, id, name);
    return add_unit(unit);
  }
  Stream& point(uint32_t thread, uint64_t value, const char* text = "someone") {
    uint64_t unit[16];
    penna_unit_end(unit,
                   penna_unit_put_string(penna_unit_put_word(penna_unit_point(unit, thread, 1), value), text, 16));
    return add_unit(unit);
  }
  Stream& lost(uint32_t count) {
    uint64_t unit[4];
    penna_unit_lost_points(unit, count);
    return add_unit(unit);
  }
  Stream& add(const void* from, size_t bytes) {
    const auto* at = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), at, at + bytes);
    return *this;
  }
  Stream& add_unit(const uint64_t* unit) { return add(unit, penna_unit_bytes(unit)); }
  std::vector<uint8_t>& bytes() { return bytes_; }
  uint64_t begin() const { return begin_; }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t begin_ = 0;
};

class StreamImportTest : public testing::Test {
 protected:
  StreamImportTest() {
    char folder[] = "/tmp/penna-stream-XXXXXX";
    folder_ = ::mkdtemp(folder);
  }
  ~StreamImportTest() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/r.penna"; }

  Recording import(std::span<const uint8_t> bytes) {
    auto stream = StreamImport::open(bytes);
    EXPECT_TRUE(stream) << stream.error().text;
    auto writer = RecordingWriter::create(path(), {.overwrite = true});
    Session session;
    session.ticks_per_second = 1'000'000'000;
    session.start = {stream->header().ticks, stream->header().monotonic_ns, stream->header().realtime_ns};
    summary_ = stream->write(*writer, session);
    EXPECT_TRUE(writer->finish());
    auto recording = Recording::open(path());
    EXPECT_TRUE(recording) << recording.error().text;
    return std::move(*recording);
  }

  std::string folder_;
  StreamSummary summary_;
};

struct Point {
  uint32_t tid;
  uint64_t time, value;
  std::string text;
};

std::vector<Point> points_of(const Recording& recording) {
  std::vector<Point> points;
  std::vector<uint8_t> buffer;
  for (const ChunkRef& ref : recording.chunks()) {
    auto read = recording.read_chunk(ref, buffer);
    EXPECT_TRUE(read) << read.error().text;
    RecordCursor in(buffer);
    Record record;
    while (in.next(record)) {
      if (record.kind != PENNA_KIND_POINT) continue;
      auto values = record.after<penna_point>();
      uint64_t value = load_word(values.data()), length = load_word(values.data() + 8);
      std::string text(reinterpret_cast<const char*>(values.data()) + 16, static_cast<uint32_t>(length));
      if (length >> 32 == PENNA_STRING_CUT) text += "...";
      points.push_back({in.header().tid, record.time, value, text});
    }
    EXPECT_FALSE(in.damaged());
  }
  return points;
}

TEST_F(StreamImportTest, every_record_of_every_thread_comes_back) {
  Stream stream;
  stream.thread(7, "a writer");
  stream.point(7, 1).point(0x80000000, 2, "").point(7, 3, "sixteen and more letters").point(7, 4, "sixteen letters!");
  stream.thread(0x80000000, "irq cpu0");  // later than what it is the name of
  Recording recording = import(stream.bytes());
  std::map<uint64_t, Point> points;
  for (const Point& point : points_of(recording)) points[point.value] = point;
  ASSERT_EQ(points.size(), 4u);
  const char* texts[] = {"someone", "", "sixteen and more...", "sixteen letters!"};
  uint64_t last = stream.begin();
  for (uint64_t value = 1; value <= 4; ++value) {
    EXPECT_EQ(points[value].text, texts[value - 1]);
    EXPECT_EQ(points[value].tid, value == 2 ? 0x80000000 : 7) << value;
    EXPECT_GE(points[value].time, last) << value;
    last = points[value].time;
  }
  EXPECT_LT(last, stream.begin() + (uint64_t{1} << 47));
  EXPECT_EQ(summary_.events[PENNA_POINTS], 4u);
  EXPECT_EQ(summary_.units, 7u);
  EXPECT_EQ(summary_.damaged_bytes + summary_.cut_bytes, 0u);
  const Site* site = recording.site(0, 1);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->provider + ":" + site->name + " " + site->file, "kernel:write module.c");
  ASSERT_EQ(site->arguments.size(), 2u);
  EXPECT_EQ(site->arguments[1].name, "who");
  std::set<std::string> names;
  for (const RecordedThread& thread : recording.threads()) names.insert(thread.name);
  EXPECT_EQ(names.count("a writer") + names.count("irq cpu0"), 2u);
}

TEST_F(StreamImportTest, more_than_a_chunk_of_one_thread) {
  Stream stream;
  for (uint64_t i = 0; i < 10'000; ++i) stream.point(static_cast<uint32_t>(1 + i % 3), i);
  Recording recording = import(stream.bytes());
  std::array<uint64_t, 4> next{0, 0, 1, 2};
  auto points = points_of(recording);
  EXPECT_EQ(points.size(), 10'000u);
  for (const Point& point : points) {
    EXPECT_EQ(point.value, next[point.tid]);
    next[point.tid] += 3;
  }
}

TEST_F(StreamImportTest, what_was_lost_is_told) {
  Recording recording = import(Stream().point(1, 1).lost(5).point(1, 2).lost(3).bytes());
  EXPECT_EQ(summary_.lost[PENNA_POINTS], 8u);
  EXPECT_EQ(points_of(recording).size(), 2u);
}

TEST_F(StreamImportTest, a_stream_that_was_cut_off_keeps_what_is_whole) {
  Stream stream;
  stream.point(1, 1).point(1, 2);
  std::vector<uint8_t> whole = stream.bytes();
  for (size_t missing = 1; missing < 48; ++missing) {
    Recording recording = import({whole.data(), whole.size() - missing});
    EXPECT_EQ(points_of(recording).size(), 1u) << missing;
    EXPECT_EQ(summary_.damaged_bytes, 0u) << missing;
    EXPECT_EQ(summary_.cut_bytes, 48 - missing) << missing;
  }
}

TEST_F(StreamImportTest, behind_damage_it_finds_its_way_again) {
  Stream stream;
  stream.point(1, 1);
  size_t at = stream.bytes().size();
  stream.point(1, 2).point(1, 3);
  stream.bytes()[at] ^= 0x40;      // a thread's number: not seen
  stream.bytes()[at + 4] ^= 0x40;  // the mark
  EXPECT_EQ(points_of(import(stream.bytes())).size(), 2u);
  EXPECT_EQ(summary_.damaged_bytes, 48u);
  stream.bytes()[at + 4] ^= 0x40;
  stream.bytes()[at + 9] = 1;  // too short for its kind
  EXPECT_EQ(points_of(import(stream.bytes())).size(), 2u);
  EXPECT_EQ(summary_.damaged_bytes, 48u);
}

TEST_F(StreamImportTest, refuses_what_is_none) {
  Stream stream;
  auto refused = [&](std::span<const uint8_t> bytes) { return !StreamImport::open(bytes); };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({stream.bytes().data(), 127}));
  auto with = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> copy = stream.bytes();
    copy[at] = value;
    return copy;
  };
  EXPECT_FALSE(refused(stream.bytes()));
  EXPECT_TRUE(refused(with(0, 1)));     // magic
  EXPECT_TRUE(refused(with(8, 99)));    // version
  EXPECT_TRUE(refused(with(12, 120)));  // bytes of the header
  EXPECT_TRUE(refused(with(12, 132)));
  EXPECT_TRUE(refused(with(14, 1)));
}

}  // namespace
}  // namespace penna::stream_import_test
