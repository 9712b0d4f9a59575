// SPDX-License-Identifier: MIT
// Writer and reader together: round trips, files that exist, full disks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

#include "recording/metadata.h"
#include "sample.h"

namespace penna::recording_test {
namespace {

using testing::HasSubstr;

TEST(Recording, RoundTripOfEveryBlock) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  spill(path, sample_bytes());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording) << recording.error().text;
  EXPECT_TRUE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any()) << recording->damage().text();
  EXPECT_EQ(recording->damage().text(), "");
  EXPECT_EQ(recording->write_failures()->lost_blocks, 0u);
  expect_sample(*recording);
}

TEST(Recording, ReadsWithoutFinish) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  write_sample(*writer);
  auto recording = Recording::open(path);  // while it is being written
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any()) << recording->damage().text();
  expect_sample(*recording);
}

TEST(Recording, EmptyOne) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(Recording::open(path));
  ASSERT_TRUE(writer->finish());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any()) << recording->damage().text();
  EXPECT_EQ(recording->chunks().size(), 0u);
  EXPECT_EQ(recording->time().monotonic_ns(5), 5);
}

TEST(Recording, EveryCodecReadsBack) {
  TempDir dir;
  for (bool columns : {false, true}) {
    WriterOptions options;
    options.columns = columns;
    std::string path = dir.file(columns ? "c.penna" : "z.penna");
    spill(path, sample_bytes(options));
    auto recording = Recording::open(path);
    ASSERT_TRUE(recording);
    expect_sample(*recording);
  }
}

TEST(Recording, TakesAChunkAgainMoreComplete) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  for (int round = 0; round < 2; ++round) {
    ChunkBuilder chunk(1000);
    chunk.entry(1, 1001);
    round == 0 ? chunk.word(0) : chunk.exit(1, 1002);
    auto bytes = chunk.close();
    ASSERT_TRUE(writer->write_chunk(3, bytes, scan_chunk(bytes)));
  }
  ASSERT_TRUE(writer->finish());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  ASSERT_EQ(recording->chunks().size(), 1u);
  EXPECT_EQ(recording->chunks()[0].events[PENNA_CALLS], 2u);
  EXPECT_EQ(recording->chunks()[0].torn, 0u);
  EXPECT_FALSE(recording->processes()[0].announced);
  EXPECT_EQ(recording->processes()[0].process.number, 3u);
  EXPECT_EQ(recording->threads()[0].tid, 4001u);
}

TEST(Recording, ManyStacksAndModulesSpanBlocks) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  std::vector<penna_stack_node> nodes(100'000);
  for (uint32_t i = 1; i < nodes.size(); ++i)
    nodes[i] = {0x1000 + i * 16, i > 100 ? i - 100 : 0, i > 100 ? i / 100 + 1 : 1};
  ASSERT_TRUE(writer->write_stacks(1, 0, std::span(nodes).first(70'000)));
  ASSERT_TRUE(writer->write_stacks(1, 70'000, std::span(nodes).subspan(70'000)));
  std::vector<Module> modules;
  for (uint32_t i = 0; i < 5000; ++i)
    modules.push_back(sample_module(std::string(200, 'm') + std::to_string(i), 0x10000 * (i + 1), i));
  ASSERT_TRUE(writer->write_modules(1, modules));
  ASSERT_TRUE(writer->finish());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->stack_node_count(0), nodes.size() - 1);
  int depth = 0;
  for (uint32_t id = 99'999; id != 0; id = recording->stack_node(0, id)->parent) ++depth;
  EXPECT_EQ(depth, 1000);
  ASSERT_EQ(recording->processes()[0].modules.size(), modules.size());
  EXPECT_EQ(recording->module_map(0).find(0x10000 * 4001 + 5, UINT64_MAX), 4000u);
}

TEST(Recording, StacksThatLoopOrDangleEnd) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  std::vector<penna_stack_node> nodes(6);
  nodes[1] = {0x10, 2, 2};  // 1 and 2 name each other
  nodes[2] = {0x20, 1, 2};
  nodes[3] = {0x30, 3, 5};     // itself
  nodes[4] = {0x40, 4000, 7};  // its parent is nowhere
  nodes[5] = {0x50, 4, 8};
  ASSERT_TRUE(writer->write_stacks(1, 0, nodes));
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  for (uint32_t id : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(recording->stack_node(0, id)->parent, 0u);
    EXPECT_TRUE(recording->stack_node(0, id)->cut);
  }
  EXPECT_EQ(recording->stack_node(0, 5)->parent, 4u);
  EXPECT_FALSE(recording->stack_node(0, 5)->cut);
}

// Files from before sites had a kind end their entries earlier.
TEST(Recording, SitesKeepTheirKind) {
  Site site{7, 12, 0x1100, "app", "tick", "app.c", {{PENNA_ARG_INT, "n"}}, PENNA_SITE_SPAN};
  auto entry = encode_entry(site);
  std::vector<Site> read;
  ASSERT_TRUE(decode_entries(entry, read));
  EXPECT_EQ(read.at(0).kind, PENNA_SITE_SPAN);
  entry.pop_back();
  entry[0] = static_cast<uint8_t>(entry[0] - 1);  // the entry's length
  ASSERT_TRUE(decode_entries(entry, read));
  EXPECT_EQ(read.at(1).kind, PENNA_SITE_EVENT);
  EXPECT_EQ(read.at(1).arguments.size(), 1u);
}

TEST(Recording, CutsTextThatDoesNotFit) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  ASSERT_TRUE(writer);
  Session session = sample_session();
  session.command.assign(100'000, "argument");
  session.command.insert(session.command.begin(), std::string(1 << 20, 'x'));
  for (std::string* text : {&session.cwd, &session.host, &session.kernel, &session.machine, &session.cpu})
    text->assign(1 << 20, 'y');
  session.options.assign(100'000, "option");
  ASSERT_TRUE(writer->write_session(session));
  ASSERT_TRUE(writer->finish());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  const Session& got = recording->session();
  EXPECT_GT(got.command.size(), 1000u);
  EXPECT_EQ(got.command.size() + got.command_cut, session.command.size());
  EXPECT_EQ(got.options.size() + got.options_cut, session.options.size());
  EXPECT_EQ(got.start.ticks, session.start.ticks);
}

TEST(Writer, RefusesToReplaceAFile) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  spill(path, {1, 2, 3});
  auto refused = RecordingWriter::create(path);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("exists already"));
  EXPECT_EQ(slurp(path).size(), 3u);
  ::chmod(path.c_str(), 0644);
  WriterOptions options;
  options.overwrite = true;
  auto writer = RecordingWriter::create(path, options);
  ASSERT_TRUE(writer);
  auto second = RecordingWriter::create(path, options);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, HasSubstr("another recorder"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_TRUE(Recording::open(path));
}

// As the children of a recorder that was killed do.
TEST(Writer, WaitsForALockThatIsGivenUpSoon) {
  TempDir dir;
  const std::string path = dir.file("a.penna");
  spill(path, {1, 2, 3});
  const int held = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  std::thread child([held] {
    ::usleep(50'000);
    ::close(held);
  });
  WriterOptions options;
  options.overwrite = true;
  const auto writer = RecordingWriter::create(path, options);
  child.join();
  EXPECT_TRUE(writer) << (writer ? "" : writer.error().text);
}

TEST(Writer, RefusesWhatIsNoFile) {
  WriterOptions options;
  options.overwrite = true;
  EXPECT_THAT(RecordingWriter::create("/dev/null", options).error().text, HasSubstr("not a regular file"));
  EXPECT_THAT(RecordingWriter::create("/nowhere/a.penna").error().text, HasSubstr("cannot write /nowhere/a.penna"));
}

// ---- Full disks, by a pwrite that lets `room` bytes of file be, then none. At most one test at a time uses it.

uint64_t disk_room = UINT64_MAX;

ssize_t small_disk(int fd, const void* data, size_t size, off_t offset) {
  auto at = static_cast<uint64_t>(offset);
  if (at + size > disk_room) {
    if (at >= disk_room) {
      errno = ENOSPC;
      return -1;
    }
    size = disk_room - at;
  }
  return ::pwrite(fd, data, size, offset);
}

std::array<uint64_t, 4> events_in(const Recording& recording) {
  std::array<uint64_t, 4> sum{};
  for (const ChunkRef& chunk : recording.chunks())
    for (size_t i = 0; i < 4; ++i) sum[i] += chunk.events[i];
  return sum;
}

// For every size of disk: nothing partial stays, and stored + counted as lost = written.
TEST(FullDisk, LosesNothingUncounted) {
  TempDir dir;
  const uint64_t whole = sample_bytes().size();
  for (uint64_t room = layout::kBlocksAt; room < whole; room += 61) {
    std::string path = dir.file("a.penna");
    WriterOptions options;
    options.overwrite = true;
    options.pwrite = small_disk;
    disk_room = room;
    auto writer = RecordingWriter::create(path, options);
    ASSERT_TRUE(writer);
    int errors = 0;
    uint64_t chunks = 0;
    auto tell = [&](const Result<>& result) { errors += !result; };
    tell(writer->write_session(sample_session()));
    for (uint64_t sequence = 0; sequence < kSampleChunks; ++sequence) {
      auto chunk = sample_chunk(1, sequence);
      tell(writer->write_chunk(1, chunk, scan_chunk(chunk)));
      ++chunks;
    }
    EXPECT_LE(errors, 1) << "told once";
    EXPECT_LE(slurp(path).size(), room);
    EXPECT_EQ(slurp(path).size(), writer->file_bytes());
    bool finished = static_cast<bool>(writer->finish());

    auto recording = Recording::open(path);
    ASSERT_TRUE(recording) << recording.error().text;
    EXPECT_EQ(recording->is_finished(), finished);
    EXPECT_FALSE(recording->damage().any()) << room << ": " << recording->damage().text();
    auto stored = events_in(*recording);
    ASSERT_TRUE(recording->write_failures());
    EXPECT_EQ(stored[PENNA_CALLS] + recording->write_failures()->lost[PENNA_CALLS], chunks * 100) << room;
    EXPECT_EQ(stored[PENNA_ALLOC] + recording->write_failures()->lost[PENNA_ALLOC], chunks * 100) << room;
    EXPECT_EQ(writer->lost()[PENNA_CALLS], recording->write_failures()->lost[PENNA_CALLS]);
    if (errors != 0) {
      EXPECT_EQ(recording->write_failures()->error, uint32_t{ENOSPC});
    }
  }
}

TEST(FullDisk, GoesOnWhenThereIsRoomAgainAndKeepsItsNames) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  WriterOptions options;
  options.pwrite = small_disk;
  disk_room = UINT64_MAX;
  auto writer = RecordingWriter::create(path, options);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write_session(sample_session()));
  disk_room = writer->file_bytes() + 10;
  auto first = writer->write_process({1, 4000, 99, true, "/usr/bin/app", {"./app"}, 0, 0});
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().text, HasSubstr("No space left on device"));
  EXPECT_THAT(first.error().text, HasSubstr("free disk space"));
  EXPECT_EQ(ENOSPC, writer->error());
  std::vector<Module> modules{sample_module("/usr/bin/app", 0x5555'0000'0000, 1)};
  EXPECT_TRUE(writer->write_modules(1, modules)) << "the error must be reported once";
  EXPECT_TRUE(writer->write_stacks(1, 0, sample_nodes()));
  auto chunk = sample_chunk(1, 0);
  EXPECT_TRUE(writer->write_chunk(1, chunk, scan_chunk(chunk)));

  disk_room = UINT64_MAX;
  chunk = sample_chunk(1, 1);
  EXPECT_TRUE(writer->write_chunk(1, chunk, scan_chunk(chunk)));
  EXPECT_EQ(ENOSPC, writer->error()) << "what failed is missing for good";
  disk_room = writer->file_bytes();
  EXPECT_FALSE(writer->write_clock({})) << "a new failure must be reported again";
  disk_room = UINT64_MAX;
  EXPECT_TRUE(writer->finish());

  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any()) << recording->damage().text();
  ASSERT_EQ(recording->processes().size(), 1u);
  EXPECT_TRUE(recording->processes()[0].announced);
  EXPECT_EQ(recording->processes()[0].modules.size(), 1u);
  EXPECT_TRUE(recording->stack_node(0, 3));
  EXPECT_EQ(recording->clocks().size(), 1u);
  ASSERT_EQ(recording->chunks().size(), 1u);
  EXPECT_EQ(recording->chunks()[0].sequence, 1u);
  EXPECT_EQ(recording->write_failures()->lost[PENNA_CALLS], 100u);
}

TEST(FullDisk, BoundsWhatItKeeps) {
  TempDir dir;
  WriterOptions options;
  options.pwrite = small_disk;
  disk_room = UINT64_MAX;
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path, options);
  ASSERT_TRUE(writer);
  disk_room = layout::kBlocksAt;
  std::vector<penna_stack_node> nodes(32 << 10);
  for (auto& node : nodes) node = {1, 0, 1};
  for (int i = 0; i < 64; ++i) (void)writer->write_stacks(1, static_cast<uint32_t>(i) << 15, nodes);  // 32 MiB
  disk_room = UINT64_MAX;
  ASSERT_TRUE(writer->finish());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_GT(recording->write_failures()->lost_blocks, 30u);
  EXPECT_LE(recording->stack_node_count(0), (uint64_t{16} << 20) / 16);
  EXPECT_GT(recording->stack_node_count(0), (uint64_t{14} << 20) / 16);
}

// The real thing: the kernel's own limit, with the signal ignored as the recorder does.
TEST(FullDisk, FileSizeLimit) {
  TempDir dir;
  auto before_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{2000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  int errors = 0;
  for (uint64_t sequence = 0; writer && sequence < 20; ++sequence) {
    auto chunk = sample_chunk(1, sequence);
    auto result = writer->write_chunk(1, chunk, scan_chunk(chunk));
    errors += !result;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, before_handler);
  ASSERT_TRUE(writer);
  EXPECT_EQ(errors, 1);
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_LE(recording->file_bytes(), 2000u);
  EXPECT_FALSE(recording->damage().any());
  EXPECT_EQ(recording->write_failures()->error, uint32_t{EFBIG});
  EXPECT_EQ(events_in(*recording)[PENNA_CALLS] + recording->write_failures()->lost[PENNA_CALLS], 2000u);
}

}  // namespace
}  // namespace penna::recording_test
