// SPDX-License-Identifier: MIT
// Pushing to a server that loses requests and answers: whatever it loses, each row is visible once in the end.
#include "sql/clickhouse/fleet_push.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "../model/recording_builder.h"
#include "sql/clickhouse/fleet_tables.h"
#include "sql/scan.h"

namespace penna {
namespace {

using testing::HasSubstr;
using Outcome = FleetAnswer::Outcome;

// Parses a block in Native format.
class NativeReader {
 public:
  explicit NativeReader(std::string_view data) : data_(data) {
    const uint64_t columns = length();
    rows = length();
    for (uint64_t i = 0; i < columns; ++i) {
      const std::string name(text());
      std::string_view type = text();
      if (type.starts_with("Nullable(")) {
        data_.remove_prefix(rows);
        type = type.substr(9, type.size() - 10);
      }
      for (uint64_t row = 0; row < rows; ++row) {
        uint64_t value = 0;
        if (type == "String") {
          text();
          continue;
        }
        const size_t width = type == "UUID" ? 16 : type == "UInt8" ? 1 : type == "Date" ? 2 : type == "UInt32" ? 4 : 8;
        std::memcpy(&value, data_.data(), std::min<size_t>(width, 8));
        data_.remove_prefix(width);
        if (name == "row") numbers.push_back(value);
        if (name == "block") block = value;
      }
    }
    is_whole = data_.empty();
  }
  uint64_t rows = 0, block = 0;
  std::vector<uint64_t> numbers;  // of the rows
  bool is_whole = false;

 private:
  uint64_t length() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(data_[0]);
      data_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view text() {
    const uint64_t size = length();
    const std::string_view text = data_.substr(0, size);
    data_.remove_prefix(size);
    return text;
  }
  std::string_view data_;
};

// As much of ClickHouse as a push needs.
class FakeServer : public FleetServer {
 public:
  enum class Way { kPass, kAnswerLost, kNever, kLate, kAway };

  std::vector<Way> ways;  // of the INSERTs that come, repeated in rotation
  size_t inserts = 0;
  std::string setup = "1\t30\n";
  std::set<uint64_t> voids;

  FleetAnswer ask(const FleetRequest& request) override {
    const std::string& query = request.query;
    if (query.starts_with("INSERT INTO penna.void_block")) {
      voids.insert(std::stoull(query.substr(query.rfind(' '))));
      return {};
    }
    if (query.starts_with("INSERT")) return insert(query, std::string(request.data));
    return {Outcome::kDone, select(query), 0};
  }
  const std::string& name() const override { return name_; }
  const std::string& database() const override { return database_; }

  // What was in flight arrives after all.
  void let_late_ones_in() {
    for (const auto& [table, data] : late_) store(table, data);
    late_.clear();
  }
  // Numbers of rows of a table as its view shows them.
  std::multiset<uint64_t> visible(const std::string& table) const {
    std::multiset<uint64_t> all;
    for (const NativeReader& block : blocks(table))
      if (!voids.contains(block.block)) all.insert(block.numbers.begin(), block.numbers.end());
    return all;
  }

 private:
  FleetAnswer insert(const std::string& query, const std::string& data) {
    const std::string table = query.substr(18, query.find("_rows") - 18);  // "INSERT INTO penna."
    const Way way = ways.empty() ? Way::kPass : ways[inserts % ways.size()];
    ++inserts;
    if (way == Way::kAway) return {Outcome::kAway, "away", 0};
    if (way == Way::kPass || way == Way::kAnswerLost) store(table, data);
    if (way == Way::kLate) late_.emplace_back(table, data);
    return way == Way::kPass ? FleetAnswer{} : FleetAnswer{Outcome::kUnknown, "lost", 0};
  }
  void store(const std::string& table, const std::string& data) { stored_[table].push_back(data); }
  std::vector<NativeReader> blocks(const std::string& table) const {
    std::vector<NativeReader> all;
    if (const auto found = stored_.find(table); found != stored_.end())
      for (const std::string& data : found->second) all.emplace_back(data);
    return all;
  }
  static std::string table_in(const std::string& query) {
    const size_t from = query.find("FROM penna.") + 11;
    return query.substr(from, query.find_first_of("_ ", from) - from);
  }
  std::string select(const std::string& query) const {
    if (query.find("fleet_setup") != std::string::npos) return setup;
    const std::string table = table_in(query);
    if (query.starts_with("SELECT name, value")) return stored_.contains("label") ? "host\th\t0\nservice\ts\t0\n" : "";
    if (query.starts_with("SELECT count() FROM penna.recording"))
      return std::to_string(visible("recording").size()) + "\n";
    if (query.starts_with("SELECT count()")) {
      const uint64_t wanted = std::stoull(query.substr(query.find("block = ") + 8));
      uint64_t rows = 0;
      for (const NativeReader& block : blocks(table)) rows += block.block == wanted ? block.rows : 0;
      return std::to_string(rows) + "\n";
    }
    std::string text;
    if (query.starts_with("SELECT DISTINCT block"))
      for (const NativeReader& block : blocks(table))
        if (!voids.contains(block.block)) text += std::to_string(block.block) + "\n";
    return text;
  }

  std::string name_ = "http://fake:8123", database_ = "penna";
  std::map<std::string, std::vector<std::string>> stored_;
  std::vector<std::pair<std::string, std::string>> late_;
};

class FleetPushTest : public testing::Test {
 protected:
  void SetUp() override {
    const uint32_t process = build.process(100);
    for (const uint32_t serial : {1u, 2u}) {
      ThreadBuilder& thread = build.thread(process, serial);
      for (uint64_t time = 100; time < 5000; time += 20) {
        thread.enter(0x1000, time);
        thread.alloc(0x9000 + time * 64 + serial * 0x100000, 16, time + 1);
        thread.exit(0x1000, time + 10);
      }
    }
    auto recording = std::make_shared<const Recording>(build.open());
    source = std::move(*SqlSource::open(recording, 0, make_symbol_source(), {}));
  }

  Result<> push() {
    PushCare care;
    care.note = [this](uint32_t attempt) -> Result<> {
      noted = attempt;
      return ok();
    };
    care.wait = [this](unsigned tries, const std::string&) { return tries < patience; };
    const PushOrder order{{{"host", "h"}, {"service", "s"}}, noted, begun, 20000};
    begun = true;
    done = {};
    return push_recording(server, *source, order, care, done);
  }
  uint64_t rows_of(SqlTable table) {
    ScanRequest request{{0}, {}, INT64_MIN, INT64_MAX, {}};
    RowBatch batch(request.wanted, description_of(table).columns.size());
    uint64_t rows = 0;
    for (const ScanPart& part : scan_table(*source, table, request))
      while (part->fill(batch)) {
        rows += batch.rows();
        batch.clear();
      }
    return rows;
  }
  void expect_each_row_once() {
    server.let_late_ones_in();
    for (const FleetTable& table : fleet_tables()) {
      if (table.source == nullptr || table.order == FleetOrder::kDictionary) continue;
      const std::multiset<uint64_t> rows = server.visible(table.name);
      EXPECT_EQ(rows.size(), rows_of(table.source->table)) << table.name;
      EXPECT_EQ(std::set<uint64_t>(rows.begin(), rows.end()).size(), rows.size()) << table.name;
    }
  }

  RecordingBuilder build;
  std::unique_ptr<SqlSource> source;
  FakeServer server;
  uint32_t noted = 0;
  bool begun = false;
  unsigned patience = 10;
  PushDone done;
};

using Way = FakeServer::Way;

TEST_F(FleetPushTest, SendsEachRowOnce) {
  ASSERT_TRUE(push());
  expect_each_row_once();
  EXPECT_GT(done.rows, 1000U);
  EXPECT_FALSE(done.was_there);
  const size_t inserts = server.inserts;
  ASSERT_TRUE(push());
  EXPECT_TRUE(done.was_there);
  EXPECT_EQ(server.inserts, inserts);
}

TEST_F(FleetPushTest, LostAnswersAndRequestsLoseNothingAndDoubleNothing) {
  server.ways = {Way::kPass, Way::kAnswerLost, Way::kNever, Way::kLate, Way::kAway};
  ASSERT_TRUE(push());
  EXPECT_GT(done.repeated, 0U);
  EXPECT_FALSE(server.voids.empty());
  expect_each_row_once();
}

TEST_F(FleetPushTest, APushThatWasEndedGoesOnWhereverThatWas) {
  ASSERT_TRUE(push());
  const size_t inserts = server.inserts;
  ASSERT_GT(inserts, 5U);
  for (size_t after = 1; after <= inserts; ++after) {
    SCOPED_TRACE(after);
    server = FakeServer();
    noted = 0;
    begun = false;
    // The last one that is sent arrives late: the push that continues cannot know of it.
    server.ways.assign(after, Way::kPass);
    server.ways.back() = Way::kLate;
    patience = 1;
    ASSERT_FALSE(push());
    server.ways.clear();
    patience = 10;
    ASSERT_TRUE(push());
    expect_each_row_once();
  }
}

TEST_F(FleetPushTest, GivesUpWhenItShall) {
  server.ways = {Way::kAway};
  patience = 3;
  const Result<> pushed = push();
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().text, "away");
  EXPECT_EQ(server.inserts, 3U);
}

TEST_F(FleetPushTest, TablesOfAnotherVersionAreRefused) {
  server.setup = "2\t30\n";
  EXPECT_THAT(push().error().text, HasSubstr("use a newer Penna"));
  server.setup = "0\t30\n";
  EXPECT_THAT(push().error().text, HasSubstr("make new ones"));
  server.setup = "";
  EXPECT_THAT(push().error().text, HasSubstr("has no tables of Penna"));
}

TEST(FleetLabel, IsANameAndAValue) {
  EXPECT_EQ(*parse_label("service=check out"), std::pair(std::string("service"), std::string("check out")));
  EXPECT_EQ(parse_label("a=b=c")->second, "b=c");
  for (const char* wrong : {"", "a", "=b", "A=b", "a b=c", "a=", "a=\x1b[31m"})
    EXPECT_FALSE(parse_label(wrong)) << wrong;
  EXPECT_FALSE(parse_label("a=" + std::string(201, 'x')));
}

TEST(FleetTables, EveryColumnOfTheDescriptionIsThereOrOfOneRecordingAlone) {
  for (const SqlTableDescription& description : sql_tables()) {
    const FleetTable& table = fleet_table(description.table);
    std::set<std::string> names;
    for (const FleetColumn& column : table.columns) names.insert(column.name);
    for (const SqlColumn& column : description.columns) {
      const std::string name = column.name;
      const bool left_out = table.order == FleetOrder::kDictionary ? name == "recording" || name == "process"
                                                                   : table.name == "recording" && name == "host";
      EXPECT_EQ(names.contains(name), !left_out) << table.name << "." << name;
    }
    // None of the columns that the fleet adds exists already.
    for (const char* own : {"shard", "day", "service", "host", "row", "block", "attempt"})
      EXPECT_FALSE(names.contains(own)) << table.name << "." << own;
  }
}

}  // namespace
}  // namespace penna
