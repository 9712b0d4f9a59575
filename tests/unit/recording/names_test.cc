// SPDX-License-Identifier: MIT
// What a writer remembers of the code that it has seen, and the names that it writes for it.
#include <gmock/gmock.h>

#include "recording/metadata.h"
#include "sample.h"

namespace penna::recording_names_test {
namespace {

using testing::ElementsAre;

FileNames sample_names() {
  FileNames names;
  names.path = "/usr/bin/app";
  names.build_id = {1, 2, 3};
  names.texts = {"", "inner()", "outer()", "a.cc", "table", ".lock"};
  names.places = {{0x1000, 0xff0, FileNames::kStart, {{1, 3, 7, 1}, {2, 3, 9, 0}}},
                  {0x2000, 0x2000, FileNames::kStart | FileNames::kEntry, {}},
                  {0x4008, 0x4000, FileNames::kStart | FileNames::kData, {{4, 5, 0, 0}}}};
  return names;
}

Result<Recording> written(TempDir& dir, const FileNames& names) {
  const std::string path = dir.file("a.penna");
  auto writer = RecordingWriter::create(path);
  EXPECT_TRUE(writer);
  EXPECT_TRUE(writer->write_names(names));
  EXPECT_TRUE(writer->finish());
  return Recording::open(path);
}

TEST(RecordedNames, ComeBackAsTheyWere) {
  TempDir dir;
  auto recording = written(dir, sample_names());
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->damage().any());
  ASSERT_EQ(recording->names().size(), 1u);
  const FileNames& names = recording->names()[0];
  EXPECT_EQ(names.path, "/usr/bin/app");
  EXPECT_THAT(names.build_id, ElementsAre(1, 2, 3));
  ASSERT_EQ(names.places.size(), 3u);
  const FileNames::Place& code = names.places[0];
  EXPECT_EQ(code.address, 0x1000u);
  EXPECT_EQ(code.start, 0xff0u);
  EXPECT_EQ(code.flags, FileNames::kStart);
  ASSERT_EQ(code.frames.size(), 2u);
  EXPECT_EQ(names.texts[code.frames[0].function], "inner()");
  EXPECT_EQ(names.texts[code.frames[1].function], "outer()");
  EXPECT_EQ(names.texts[code.frames[1].file], "a.cc");
  EXPECT_EQ(code.frames[0].line, 7u);
  EXPECT_EQ(code.frames[0].inlined, 1u);
  EXPECT_EQ(names.places[1].flags, FileNames::kStart | FileNames::kEntry);
  EXPECT_EQ(names.texts[names.places[2].frames.at(0).file], ".lock");
}

TEST(RecordedNames, OfManyPlacesSpanBlocks) {
  TempDir dir;
  FileNames names;
  names.path = "/usr/bin/app";
  constexpr uint32_t kPlaces = 5000;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    names.texts.push_back(std::string(200, 'f') + std::to_string(i));
    names.places.push_back({i, 0, 0, {{i, i / 2, i, 0}}});
  }
  auto recording = written(dir, names);
  ASSERT_TRUE(recording);
  EXPECT_GT(recording->names().size(), 2u);
  uint32_t next = 0;
  for (const FileNames& part : recording->names()) {
    EXPECT_EQ(part.path, names.path);
    for (const FileNames::Place& place : part.places) {
      ASSERT_EQ(place.address, next);
      EXPECT_EQ(part.texts.at(place.frames.at(0).function), names.texts[next]);
      EXPECT_EQ(part.texts.at(place.frames.at(0).file), names.texts[next / 2]);
      ++next;
    }
  }
  EXPECT_EQ(next, kPlaces);
}

TEST(RecordedNames, HostileOnesAreRefused) {
  const Bytes whole = encode_names(sample_names());
  ASSERT_TRUE(decode_names(whole));
  // Cut anywhere but between two places, and it is none.
  size_t valid = 0;
  for (size_t size = 0; size < whole.size(); ++size) valid += decode_names(ByteSpan(whole).first(size)).has_value();
  EXPECT_EQ(valid, sample_names().places.size());  // with none, one or two of them
  for (const bool is_file : {false, true}) {
    FileNames names = sample_names();
    (is_file ? names.places[0].frames[1].file : names.places[0].frames[1].function) = 6;
    EXPECT_FALSE(decode_names(encode_names(names))) << "a text that is not there";
  }
}

TEST(SeenCode, IsWhatRecordsReferTo) {
  TempDir dir;
  auto writer = RecordingWriter::create(dir.file("a.penna"), {.remembers_code = true});
  ASSERT_TRUE(writer);
  const std::vector<Module> modules{sample_module("/usr/bin/app", 0x5555'0000'0000, 1),
                                    sample_module("/lib/other.so", 0x7fff'0000'0000, 1)};
  ASSERT_TRUE(writer->write_modules(1, modules));
  ChunkBuilder chunk(1000);
  chunk.entry(0x5555'0000'1040, 1001).exit(0x5555'0000'1040, 1002).entry(0x5555'0000'1080, 1003);
  chunk.full(PENNA_KIND_CALL_ENTRY, 1004, penna_call{0x7fff'0000'2000});  // whose upper half is another
  chunk.full(PENNA_KIND_LOCK, 1005, penna_lock{0x5555'0000'4000});
  chunk.full(PENNA_KIND_COND_WAIT, 1006, penna_cond_wait{0x5555'0000'4100, 0x5555'0000'4200, 1005, 0, 0});
  chunk.full(PENNA_KIND_LOCK, 1007, penna_lock{0x1234'0000});  // on the heap
  const auto bytes = chunk.close();
  ASSERT_TRUE(writer->write_chunk(1, bytes, scan_chunk(bytes)));
  std::vector<penna_stack_node> nodes(2);
  nodes[1] = {0x5555'0000'3000 | uint64_t{1} << 48, 0, 1};
  ASSERT_TRUE(writer->write_stacks(1, 0, nodes));
  ASSERT_TRUE(writer->write_process_end({1, 2000, EndKind::kExited, 0, {}}));
  // What comes late, too.
  nodes[1].pc_generation = 0x5555'0000'3100;
  ASSERT_TRUE(writer->write_stacks(1, 2, std::span(nodes).subspan(1)));

  const std::vector<SeenFile> files = writer->seen_code();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/lib/other.so");
  EXPECT_THAT(files[0].code, ElementsAre(0x3000));  // sample_module() lies 0x1000 behind its bias
  EXPECT_EQ(files[1].path, "/usr/bin/app");
  EXPECT_THAT(files[1].code, ElementsAre(0x2040, 0x2080, 0x3fff, 0x40ff));
  EXPECT_THAT(files[1].data, ElementsAre(0x5000, 0x5100, 0x5200));
  EXPECT_THAT(files[1].build_id, ElementsAre(1, 2, 3, 4, 5));
}

TEST(SeenCode, IsRememberedOnlyWhenAskedFor) {
  TempDir dir;
  auto writer = RecordingWriter::create(dir.file("a.penna"));
  ASSERT_TRUE(writer);
  write_sample(*writer);
  EXPECT_TRUE(writer->seen_code().empty());
}

}  // namespace
}  // namespace penna::recording_names_test
