// SPDX-License-Identifier: MIT
// The table of health counters: each counter has one row, and is summed over processes as it says.
#include "model/verdict/health_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/verdict/health.h"

namespace penna::health_counters_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> rows_with(const HealthReport& report, uint64_t value) {
  std::vector<std::string> names;
  for (const HealthCounter& counter : health_counters())
    if (counter.value(report) == value) names.emplace_back(counter.name);
  return names;
}

TEST(HealthCounters, EachCounterHasOneRow) {
  int count = 0;
#define PENNA_HEALTH_TARGET(rank, field, how, severity, uses, key, name, ...) \
  {                                                                           \
    HealthReport report;                                                      \
    report.target.field = 41;                                                 \
    EXPECT_THAT(rows_with(report, 41), ElementsAre(name)) << #field;          \
    ++count;                                                                  \
  }
#define PENNA_HEALTH_RECORDER(rank, field, severity, uses, key, name, ...) \
  {                                                                        \
    HealthReport report;                                                   \
    report.recorder.field = 41;                                            \
    EXPECT_THAT(rows_with(report, 41), ElementsAre(name)) << #field;       \
    ++count;                                                               \
  }
#define PENNA_HEALTH_FOUND(rank, field, section, severity, uses, key, name, ...) \
  {                                                                              \
    HealthReport report;                                                         \
    report.field = 41;                                                           \
    EXPECT_THAT(rows_with(report, 41), ElementsAre(name)) << #field;             \
    ++count;                                                                     \
  }
#include "penna/health.inc"
  EXPECT_GT(count, 30);
}

TEST(HealthCounters, NamesAndKeysAreUnique) {
  std::set<std::string> names, keys;
  for (const HealthCounter& counter : health_counters()) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    if (*counter.key != '\0') {
      EXPECT_TRUE(keys.insert(counter.key).second) << counter.key;
    }
  }
}

TEST(HealthCounters, SumsOverProcesses) {
  penna_counters sums{}, one{};
  one.sites_refused = 5;
  one.clock_forbidden = 5;  // a target may write what it likes: it is one process
  add_counters(sums, one);
  add_counters(sums, one);
  EXPECT_EQ(sums.sites_refused, 10u);
  EXPECT_EQ(sums.clock_forbidden, 2u);
}

TEST(HealthCounters, RecordSaysSomeAtItsEnd) {
  penna_counters sums{};
  sums.sites_refused = 1;
  EXPECT_THAT(closing_sentences(sums), ElementsAre());
  sums.ended_at_once = 2;
  EXPECT_THAT(closing_sentences(sums), ElementsAre(testing::StartsWith("2 calls freed all blocks of a heap at once")));
  EXPECT_THAT(closing_sentences(sums)[0].back(), testing::Ne('.'));
}

}  // namespace
}  // namespace penna::health_counters_test
