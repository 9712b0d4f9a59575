// SPDX-License-Identifier: MIT
// Rows of calls, allocations, waits and health of recordings built event by event: missing ones, and the parent of each.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "../model/recording_builder.h"
#include "sql/columns.h"
#include "sql/scan.h"

namespace penna {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

class SqlRowsTest : public testing::Test {
 protected:
  RecordingBuilder build;

  void open(Recording recording) {
    source = std::move(
        *SqlSource::open(std::make_shared<const Recording>(std::move(recording)), 0, make_symbol_source(), {}));
  }

  // All rows of a table, each with these columns; NULL is "-".
  std::vector<std::string> rows(SqlTable table, std::vector<uint32_t> columns, ScanRequest request = {}) {
    if (!source) open(build.open());
    request.wanted = columns;
    std::vector<std::string> result;
    RowBatch batch(request.wanted, description_of(table).columns.size());
    for (const ScanPart& part : scan_table(*source, table, request))
      while (part->fill(batch)) {
        for (size_t row = 0; row < batch.rows(); ++row) result.push_back(row_text(table, columns, batch, row));
        batch.clear();
      }
    return result;
  }

  static std::string row_text(SqlTable table, const std::vector<uint32_t>& columns, const RowBatch& batch, size_t row) {
    std::string text;
    for (size_t slot = 0; slot < columns.size(); ++slot) {
      const SqlType type = description_of(table).columns[columns[slot]].type;
      const bool is_text = type == SqlType::kText || type == SqlType::kJson;
      text += slot == 0 ? "" : " ";
      text += batch.valid(slot)[row] == 0 ? "-"
              : is_text                   ? std::string(batch.texts(slot)[row])
                                          : std::to_string(batch.numbers(slot)[row]);
    }
    return text;
  }

  std::unique_ptr<SqlSource> source;
};

TEST_F(SqlRowsTest, CallsHaveParentDepthAndTimes) {
  ThreadBuilder& thread = build.thread(build.process(100), 1);
  thread.enter(0x1000, 10);
  thread.enter(0x2000, 20);
  thread.exit(0x2000, 50);
  thread.exit(0x1000, 100);
  using namespace call_column;
  EXPECT_THAT(rows(SqlTable::kCall, {id, parent, depth, time, duration, self, how}),
              ElementsAre("2 1 1 10 30 30 exit", "1 - 0 0 90 60 exit"));
}

TEST_F(SqlRowsTest, ACallThatWasNotLeftIsOpen) {
  ThreadBuilder& thread = build.thread(build.process(100), 1);
  thread.enter(0x1000, 10);
  thread.enter(0x2000, 20);
  thread.exit(0x1000, 30);
  thread.enter(0x3000, 40);
  EXPECT_THAT(rows(SqlTable::kCall, {call_column::id, call_column::how}), ElementsAre("2 unwound", "1 exit", "3 open"));
}

TEST_F(SqlRowsTest, RowsAreChosenByThreadAndTime) {
  const uint32_t process = build.process(100);
  for (const uint32_t serial : {1u, 2u}) {
    ThreadBuilder& thread = build.thread(process, serial);
    for (uint64_t time = 100; time < 400; time += 100) {
      thread.enter(0x1000, time + serial);
      thread.exit(0x1000, time + serial + 10);
    }
  }
  using namespace call_column;
  ScanRequest second;
  second.thread = 1;
  EXPECT_THAT(rows(SqlTable::kCall, {thread, time}, second), ElementsAre("1 1", "1 101", "1 201"));
  ScanRequest early;
  early.since = 1;
  early.until = 101;
  EXPECT_THAT(rows(SqlTable::kCall, {thread, time}, early), ElementsAre("0 100", "1 1"));
  ScanRequest other;
  other.thread = int64_t{1} << 52;  // of another recording
  EXPECT_THAT(rows(SqlTable::kCall, {thread}, other), IsEmpty());
}

TEST_F(SqlRowsTest, AllocationsAreFreedLiveOrReplacedAndKnowTheirCall) {
  ThreadBuilder& thread = build.thread(build.process(100), 1);
  thread.enter(0x1000, 10);
  thread.alloc(0x9000, 16, 20);
  thread.exit(0x1000, 30);
  thread.free(0x9000, 50);
  thread.alloc(0x9100, 32, 60);
  thread.alloc(0x9100, 48, 70);  // its free is missing
  using namespace allocation_column;
  EXPECT_THAT(rows(SqlTable::kAllocation, {call, time, duration, death, state, size}),
              ElementsAre("1 10 30 40 freed 16", "- 50 10 - replaced 32", "- 60 0 - live 48"));
}

TEST_F(SqlRowsTest, ManyRowsComeInSeveralBatches) {
  ThreadBuilder& thread = build.thread(build.process(100), 1);
  constexpr size_t kCalls = 3 * kBatchRows;
  for (uint64_t i = 0; i < kCalls; ++i) {
    thread.enter(0x1000, 10 * i + 10);
    thread.exit(0x1000, 10 * i + 15);
  }
  EXPECT_EQ(rows(SqlTable::kCall, {call_column::id}).size(), kCalls);
  EXPECT_EQ(rows(SqlTable::kCall, {}).size(), kCalls);
}

// Thread 1 frees what was allocated before the recording, and a chunk of thread 2 breaks.
TEST_F(SqlRowsTest, HealthKnowsWhatTheEventsTell) {
  const uint32_t process = build.process(100);
  build.thread(process, 1).free(0x9000, 10);
  ThreadBuilder& thread = build.thread(process, 2);
  thread.enter(0x1000, 20);
  thread.new_chunk();
  thread.enter(0x1000, 30);
  open(build.open());
  const ChunkRef chunk = source->recording().chunks(1)[0];
  const int fd = ::open(build.path().c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::pwrite(fd, "damage", 6, static_cast<off_t>(chunk.offset + 60)), 6);
  ::close(fd);
  using namespace health_column;
  EXPECT_THAT(rows(SqlTable::kHealth, {name, value}),
              IsSupersetOf({"unreadable chunks 1", "unmatched frees 1", "lost calls 0"}));
  EXPECT_EQ(source->walk().unreadable, 0u);  // no table of events was read
  for (const SqlTable table : {SqlTable::kCall, SqlTable::kEvent, SqlTable::kCall}) (void)rows(table, {0});
  EXPECT_EQ(source->walk().unreadable, 1u);
}

// The second one begins before the range, and the third does not end in it.
TEST_F(SqlRowsTest, WaitsAndHoldsAreCutToTheRange) {
  const uint32_t process = build.process(100);
  ThreadBuilder &first = build.thread(process, 1), &second = build.thread(process, 2);
  for (const uint64_t time : {100u, 200u, 300u}) {
    first.lock_at(0x5000, time, 1);
    second.lock_request(0x5000, time + 10, 2, 1001);
    first.unlock(0x5000, time + 80);
    second.lock_wait(0x5000, time + 10, time + 85, 2, 1001);
    second.unlock(0x5000, time + 90);
  }
  Recording recording = build.open();
  CallRules rules;
  rules.begin = 250;
  rules.end = 350;
  select_calls(recording, rules);
  open(std::move(recording));
  EXPECT_THAT(rows(SqlTable::kWait, {wait_column::time, wait_column::duration, wait_column::how}),
              ElementsAre("150 35 got", "210 40 open"));
  EXPECT_THAT(rows(SqlTable::kHold, {hold_column::time, hold_column::duration}),
              ElementsAre("150 30", "185 5", "200 50"));
}

TEST_F(SqlRowsTest, AWaitForTheMutexOfAConditionHasItsOwnRow) {
  const uint32_t process = build.process(100);
  ThreadBuilder &first = build.thread(process, 1), &second = build.thread(process, 2);
  constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x7000);
  second.lock_at(0x5000, 10, 2);
  second.unlock(0x5000, 19);
  second.lock_request(kCondition, 20, 2);
  first.lock_at(0x5000, 30, 1);
  first.wake(kCondition, 40);
  first.unlock(0x5000, 90);
  second.cond_wait(0x5000, 0x7000, 20, 95, PENNA_WAIT_GOT, 2);
  using namespace wait_column;
  EXPECT_THAT(rows(SqlTable::kWait, {kind, time, duration, side, holder, chain}),
              ElementsAre("condition 10 20 woke 0 1", "mutex 30 55 held 0 -"));
}

TEST_F(SqlRowsTest, AnEmptyRecordingHasNoRowsAndIsOne) {
  for (const SqlTableDescription& table : sql_tables()) {
    const bool always = table.table == SqlTable::kRecording || table.table == SqlTable::kHealth;
    EXPECT_EQ(rows(table.table, {0}).empty(), !always) << table.name;
  }
}

}  // namespace
}  // namespace penna
