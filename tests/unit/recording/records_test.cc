// SPDX-License-Identifier: MIT
// RecordCursor and scan_chunk on handmade chunks: complete, torn, with holes, nested, impossible.
#include "recording/records.h"

#include <gtest/gtest.h>

#include <random>

#include "chunk_builder.h"

namespace penna::records_test {
namespace {

std::vector<Record> all_records(RecordCursor& in) {
  std::vector<Record> records;
  for (Record record; in.next(record);) records.push_back(record);
  return records;
}

TEST(RecordCursor, GivesBothFormsOfCallsAlike) {
  auto chunk = ChunkBuilder(1000)
                   .entry(0x5555'0000'1234, 1010)
                   .full(PENNA_KIND_CALL_ENTRY, 1020, penna_call{0x7fff'0000'4321})
                   .full(PENNA_KIND_CALL_EXIT, 1030, penna_call{0x7fff'0000'4321})
                   .exit(0x5555'0000'1234, 1040)
                   .close();
  RecordCursor in(chunk);
  auto records = all_records(in);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].kind, uint32_t{PENNA_KIND_CALL_ENTRY});
  EXPECT_EQ(records[0].pc, 0x5555'0000'1234u);
  EXPECT_EQ(records[0].time, 1010u);
  EXPECT_EQ(records[1].kind, uint32_t{PENNA_KIND_CALL_ENTRY});
  EXPECT_EQ(records[1].pc, 0x7fff'0000'4321u);
  EXPECT_EQ(records[2].kind, uint32_t{PENNA_KIND_CALL_EXIT});
  EXPECT_EQ(records[3].pc, 0x5555'0000'1234u);
  EXPECT_EQ(records[3].time, 1040u);
  EXPECT_FALSE(in.damaged());
  EXPECT_EQ(in.first_open(), in.content_end());
}

TEST(RecordCursor, TakesPayloadsApart) {
  auto chunk = ChunkBuilder(1000)
                   .full(PENNA_KIND_ALLOC_LARGE, 1001, penna_alloc_large{0x1234, 7, 0, 5ull << 32})
                   .full(PENNA_KIND_LOCK_WAIT, 1002, penna_lock_wait{0xaa, 900, 3, 77, PENNA_WAIT_TIMEOUT, 0})
                   .full(PENNA_KIND_POINT, 1003, penna_point{9, 0}, std::string(16, 'x'))
                   .close();
  RecordCursor in(chunk);
  auto records = all_records(in);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].as<penna_alloc_large>().size, 5ull << 32);
  EXPECT_EQ(records[1].as<penna_lock_wait>().owner, 77u);
  EXPECT_EQ(records[2].as<penna_point>().site, 9u);
  EXPECT_EQ(records[2].after<penna_point>().size(), 16u);
  EXPECT_EQ(records[2].as<penna_module>().path_bytes, 0) << "fields missing from a short record read as zero";
}

TEST(RecordCursor, SkipsPadsSilently) {
  auto chunk = ChunkBuilder(1000)
                   .word(penna_full_header(PENNA_KIND_PAD, 3, 1001))
                   .word(0xdeadbeef)
                   .word(0xffffffffffffffff)
                   .entry(1, 1002)
                   .word(penna_full_header(PENNA_KIND_PAD, 1, 1003))
                   .close();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.records, 1u);
  EXPECT_TRUE(summary.complete());
}

// In both forms of a call.
TEST(RecordCursor, CountsEntriesOfCalls) {
  auto chunk = ChunkBuilder(1000)
                   .entry(1, 1001)
                   .entry(2, 1002)
                   .exit(2, 1003)
                   .full(PENNA_KIND_CALL_ENTRY, 1004, penna_call{3})
                   .full(PENNA_KIND_CALL_EXIT, 1005, penna_call{3})
                   .close();
  const ChunkSummary summary = scan_chunk(chunk);
  EXPECT_EQ(summary.events[PENNA_CALLS], 5u);
  EXPECT_EQ(summary.entries, 3u);
}

TEST(RecordCursor, SkipsTornRecordsByTheirLength) {
  ChunkBuilder builder(1000);
  builder.entry(1, 1001);
  size_t torn_at = builder.size();
  builder.full(PENNA_KIND_ALLOC, 1002, penna_alloc{0xffff'ffff'ffff'ffff, 1, 2}, "", PENNA_TAG_BUSY).entry(2, 1003);
  auto chunk = builder.close();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.records, 2u);
  EXPECT_EQ(summary.torn, 1u);
  EXPECT_EQ(summary.holes, 0u);
  EXPECT_EQ(summary.first_open, torn_at);
  EXPECT_EQ(summary.events[PENNA_ALLOC], 0u);
  EXPECT_FALSE(summary.complete());
  EXPECT_FALSE(summary.damaged);
}

TEST(RecordCursor, SkipsHolesWordByWord) {
  ChunkBuilder builder(1000);
  builder.entry(1, 1001);
  size_t hole_at = builder.size();
  builder.word(0).word(0).word(0).entry(2, 1002).word(0).entry(3, 1003);
  auto chunk = builder.close();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.records, 3u);
  EXPECT_EQ(summary.holes, 2u);
  EXPECT_EQ(summary.first_open, hole_at);
}

TEST(RecordCursor, FindsTheEndOfAChunkThatWasNeverGivenAway) {
  ChunkBuilder builder(1000);
  builder.entry(1, 1001).word(0).entry(2, 1002);
  auto chunk = builder.leave();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.content_bytes, builder.size());
  EXPECT_EQ(summary.records, 2u);
  EXPECT_EQ(summary.holes, 1u);
}

TEST(RecordCursor, KnowsAHoleAtTheEndOnlyFromTheHeader) {
  ChunkBuilder builder(1000);
  builder.entry(1, 1001).word(0).word(0);
  EXPECT_EQ(scan_chunk(builder.leave()).holes, 0u);
  auto closed = scan_chunk(builder.close());
  EXPECT_EQ(closed.holes, 1u);
  EXPECT_EQ(closed.content_bytes, builder.size());
}

TEST(RecordCursor, TrustsTheHeaderOnlyWithinTheChunk) {
  auto chunk = ChunkBuilder(1000).entry(1, 1001).close();
  for (uint64_t bits :
       {uint64_t{1}, uint64_t{64}, UINT64_MAX, uint64_t{PENNA_CHUNK_BYTES} * 8 + 64, uint64_t{1} << 63}) {
    std::memcpy(chunk.data() + offsetof(penna_chunk, content_bits), &bits, sizeof bits);
    RecordCursor in(chunk);
    EXPECT_GE(in.content_end(), sizeof(penna_chunk));
    EXPECT_LE(in.content_end(), chunk.size());
    EXPECT_LE(all_records(in).size(), 1u);
  }
}

TEST(RecordCursor, StopsAtImpossibleHeaders) {
  const uint64_t impossible[] = {
      penna_full_header(PENNA_KIND_ALLOC, 0, 1002),     // no length
      penna_full_header(PENNA_KIND_ALLOC, 2, 1002),     // shorter than its payload
      penna_full_header(PENNA_KIND_MODULE, 255, 1002),  // past the end of the content
      penna_full_header(0, 1, 1002),                    // no kind
      penna_full_header(PENNA_KIND_PAD, 0, 1002),
      penna_full_header(PENNA_KIND_PAD, 200, 1002),
      penna_full_header(PENNA_KIND_ALLOC, 0, 1002) | PENNA_TAG_BUSY,
      penna_full_header(PENNA_KIND_ALLOC, 200, 1002) | PENNA_TAG_BUSY,
      penna_full_header(0, 1, 1002) | PENNA_TAG_BUSY,
  };
  for (uint64_t header : impossible) {
    ChunkBuilder builder(1000);
    builder.entry(1, 1001);
    size_t at = builder.size();
    builder.word(header).entry(2, 1003).entry(3, 1004);
    auto summary = scan_chunk(builder.close());
    EXPECT_TRUE(summary.damaged) << std::hex << header;
    EXPECT_EQ(summary.damaged_at, at) << std::hex << header;
    EXPECT_EQ(summary.records, 1u) << std::hex << header;
    EXPECT_FALSE(summary.complete());
  }
}

TEST(RecordCursor, PassesUnknownKindsOn) {
  auto chunk = ChunkBuilder(1000).full(40, 1001, uint64_t{5}).entry(1, 1002).close();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.records, 2u);
  EXPECT_EQ(summary.unknown, 1u);
  EXPECT_EQ(summary.events[PENNA_CALLS], 1u);
  EXPECT_TRUE(summary.complete());
}

TEST(RecordCursor, RefusesWhatIsNoChunk) {
  std::vector<uint8_t> chunk = ChunkBuilder(1000).entry(1, 1001).close();
  for (size_t size = 0; size < sizeof(penna_chunk); ++size) {
    RecordCursor in{std::span(chunk).first(size)};
    Record record;
    EXPECT_FALSE(in.next(record));
    EXPECT_TRUE(in.damaged());
    EXPECT_EQ(in.content_end(), 0u);
  }
  RecordCursor cut{std::span(chunk).first(sizeof(penna_chunk) + 7)};
  EXPECT_EQ(all_records(cut).size(), 0u) << "half a word must not be read as a record";
}

TEST(RecordCursor, NestedHandlersMayGoBackInTime) {
  // The interrupted record was reserved first and stamped before, but a handler's record behind it is older still; one
  // ran while the chunk was being opened and is older than time_begin.
  auto chunk =
      ChunkBuilder(1000).entry(1, 1500).entry(2, 1400).exit(2, 990).full(PENNA_KIND_FREE, 980, penna_free{1}).close();
  auto summary = scan_chunk(chunk);
  EXPECT_EQ(summary.time_begin, 980u);
  EXPECT_EQ(summary.time_end, 1500u);
  EXPECT_EQ(summary.records, 4u);
}

TEST(RecordCursor, ExtendsTimesAtTheEdges) {
  const uint64_t begins[] = {
      0, 5, (1u << 30) - 1, 1u << 30, (1ull << 30) + 7, (1ull << 48) - 3, 1ull << 48, 0x0123'4567'89ab'cdef};
  for (uint64_t begin : begins) {
    for (uint64_t ahead : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 29), (uint64_t{15} << 26) - 1}) {
      auto chunk = ChunkBuilder(begin).entry(1, begin + ahead).close();
      EXPECT_EQ(scan_chunk(chunk).time_end, begin + ahead) << begin << " + " << ahead;
    }
    for (uint64_t ahead : {uint64_t{0}, uint64_t{1} << 30, uint64_t{1} << 40, (uint64_t{15} << 44) - 1}) {
      auto chunk = ChunkBuilder(begin).full(PENNA_KIND_FREE, begin + ahead, penna_free{1}).close();
      EXPECT_EQ(scan_chunk(chunk).time_end, begin + ahead) << begin << " + " << ahead;
    }
    for (uint64_t before : {uint64_t{1}, uint64_t{1} << 26}) {
      if (before > begin) continue;
      EXPECT_EQ(scan_chunk(ChunkBuilder(begin).entry(1, begin - before).close()).time_begin, begin - before);
      EXPECT_EQ(scan_chunk(ChunkBuilder(begin).full(PENNA_KIND_FREE, begin - before, penna_free{1}).close()).time_begin,
                begin - before);
    }
  }
}

TEST(RecordCursor, SurvivesRandomWords) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    ChunkBuilder builder(random());
    while (builder.has_room(8) && builder.size() < 2048) {
      uint64_t word = random();
      auto kind = static_cast<uint32_t>(word % 24), words = static_cast<uint32_t>(word >> 8) % 6;
      uint64_t likely = penna_full_header(kind, words, word >> 16) | (word >> 60 == 0 ? PENNA_TAG_BUSY : 0);
      builder.word(round % 2 == 0 ? word : likely);
    }
    auto chunk = builder.close();
    chunk.resize(builder.size());  // so that AddressSanitizer sees a step too far
    RecordCursor in(chunk);
    size_t before = 0;
    for (Record record; in.next(record);) {
      ASSERT_GT(in.position(), before);
      ASSERT_LE(record.payload + record.payload_bytes, chunk.data() + chunk.size());
      before = in.position();
    }
    ASSERT_LE(in.position(), chunk.size());
  }
}

TEST(ScanChunk, CountsByClassAndShowsEachRecord) {
  auto chunk = ChunkBuilder(1000)
                   .entry(1, 1001)
                   .exit(1, 1002)
                   .alloc(0x10, 1, 2, 1003)
                   .free(0x10, 1004)
                   .full(PENNA_KIND_REALLOC_FAILED, 1005, penna_free{0x10})
                   .full(PENNA_KIND_LOCK, 1006, penna_lock{0x20})
                   .full(PENNA_KIND_UNLOCK, 1007, penna_lock{0x20})
                   .full(PENNA_KIND_COND_WAIT, 1008, penna_cond_wait{})
                   .full(PENNA_KIND_POINT, 1009, penna_point{1, 0})
                   .full(PENNA_KIND_THREAD, 1010, penna_thread{"main"})
                   .full(PENNA_KIND_LOST, 1011, penna_lost{})
                   .close();
  std::vector<uint32_t> seen;
  auto summary = scan_chunk(chunk, [&](uint32_t kind, auto&& record) {
    EXPECT_EQ(record().kind, kind);
    seen.push_back(kind);
  });
  EXPECT_EQ(seen.size(), 9u) << "all but compact calls";
  EXPECT_EQ(summary.records, 11u);
  EXPECT_EQ(summary.events, (std::array<uint32_t, 4>{2, 3, 3, 1}));
  EXPECT_EQ(summary.time_begin, 1001u);
  EXPECT_EQ(summary.time_end, 1011u);
}

TEST(Classify, KnowsEveryKindAndNoOther) {
  EXPECT_EQ(classify(PENNA_KIND_CALL_ENTRY), PENNA_CALLS);
  EXPECT_EQ(classify(PENNA_KIND_LOCK_BUSY), PENNA_LOCKS);
  for (uint32_t kind : {0u, 1u, 14u, 15u, 16u, 17u, 18u, 19u, 63u, 64u, UINT32_MAX})
    EXPECT_EQ(classify(kind), PENNA_CLASS_COUNT) << kind;
}

TEST(Decode, TheKernelsModuleIsNoFile) {
  penna_module module{};
  module.start = 0x2000;
  module.end = 0x3000;
  module.path_bytes = 21;
  auto chunk = ChunkBuilder(1000).full(PENNA_KIND_MODULE, 1001, module, "/home/linux-vdso.so.1").close();
  RecordCursor in(chunk);
  Record record;
  in.next(record);
  EXPECT_EQ(decode_module(record)->path, "[vdso]");
}

TEST(Decode, ModulesSitesAndNames) {
  penna_module module{};
  module.bias = 0x1000;
  module.start = 0x2000;
  module.end = 0x3000;
  module.path_bytes = 9;
  module.build_id_bytes = 2;
  module.build_id[0] = 0xab;
  penna_site_info site{};
  site.site = 5;
  site.arg_count = 2;
  site.kind = PENNA_SITE_SPAN;
  site.arg_types[0] = PENNA_ARG_INT;
  site.arg_types[1] = PENNA_ARG_STRING;
  std::string text("app\0tick\0app.c\0n\0\0", 18);
  site.text_bytes = static_cast<uint16_t>(text.size());
  penna_thread name{};
  std::memcpy(name.name, "0123456789abcdef", 16);  // not ended by a zero: a target may do anything
  auto decode_all = [&] {
    auto chunk = ChunkBuilder(1000)
                     .full(PENNA_KIND_MODULE, 1001, module, "/bin/true")
                     .full(PENNA_KIND_SITE, 1002, site, text)
                     .full(PENNA_KIND_THREAD, 1003, name)
                     .close();
    std::tuple<std::optional<Module>, std::optional<Site>, std::string> result;
    RecordCursor in(chunk);
    Record record;
    in.next(record);
    std::get<0>(result) = decode_module(record);
    in.next(record);
    std::get<1>(result) = decode_site(record);
    in.next(record);
    std::get<2>(result) = decode_thread_name(record);
    return result;
  };
  auto [m, s, n] = decode_all();
  ASSERT_TRUE(m && s);
  EXPECT_EQ(m->path, "/bin/true");
  EXPECT_EQ(m->build_id, (std::vector<uint8_t>{0xab, 0}));
  EXPECT_EQ(m->ticks, 1001u);
  EXPECT_EQ(s->provider + ":" + s->name + " " + s->file, "app:tick app.c");
  ASSERT_EQ(s->arguments.size(), 2u);
  EXPECT_EQ(s->kind, PENNA_SITE_SPAN);
  EXPECT_EQ(s->arguments[0].name, "n");
  EXPECT_EQ(s->arguments[1].name, "");
  EXPECT_EQ(s->arguments[1].type, PENNA_ARG_STRING);
  EXPECT_EQ(n, "0123456789abcdef");

  module.path_bytes = 40;  // more than there is
  site.arg_count = 3;      // one name too many
  auto [m2, s2, n2] = decode_all();
  EXPECT_FALSE(m2);
  EXPECT_FALSE(s2);
  module.path_bytes = 9;
  module.end = module.start;
  site.arg_count = 13;
  auto [m3, s3, n3] = decode_all();
  EXPECT_FALSE(m3);
  EXPECT_FALSE(s3);
  module.end = module.start + 1;
  module.build_id_bytes = 33;
  EXPECT_FALSE(std::get<0>(decode_all()));
}

}  // namespace
}  // namespace penna::records_test
