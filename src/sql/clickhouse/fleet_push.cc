// SPDX-License-Identifier: MIT
// See fleet_push.h.
#include "sql/clickhouse/fleet_push.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/printable.h"

namespace penna {
namespace {

constexpr int kNoTable = 60, kNoDatabase = 81;  // ErrorCodes.cpp

FleetRequest setup_request(const FleetServer& server) {
  return {fmt::format("SELECT format, keep_days FROM {}.fleet_setup ORDER BY format DESC LIMIT 1", server.database())};
}

// How many days rows are kept, from the answer to setup_request().
Result<uint32_t> keep_days_of(const FleetServer& server, const FleetAnswer& answer) {
  const std::vector<std::vector<std::string>> rows =
      answer.is_done() ? tab_separated(answer.text) : std::vector<std::vector<std::string>>{};
  if (answer.code == kNoTable || answer.code == kNoDatabase || (answer.is_done() && rows.empty()))
    return Error{fmt::format("{} has no tables of Penna in {}: 'penna fleet init {}' makes them", server.name(),
                             server.database(), server.name())};
  if (!answer.is_done()) return Error{answer.text};
  const int format = rows[0].size() == 2 ? std::atoi(rows[0][0].c_str()) : 0;
  if (format != kFleetFormat)
    return Error{fmt::format("the tables of {} are of another version of Penna ({}, and this one has {}): {}",
                             server.name(), format, kFleetFormat,
                             format > kFleetFormat ? "use a newer Penna" : "make new ones, in another --database")};
  return static_cast<uint32_t>(std::strtoul(rows[0][1].c_str(), nullptr, 10));
}

class Push {
 public:
  Push(FleetServer& server, SqlSource& source, const PushOrder& order, const PushCare& care, PushDone& done)
      : server_(server), source_(source), order_(order), care_(care), done_(done), attempt_(order.attempt) {
    for (const auto& [name, value] : order.labels) {
      if (name == "service") labels_.service = value;
      if (name == "host") labels_.host = value;
    }
  }

  Result<> run() {
    keep_days_ = PENNA_TRY(keep_days_of(server_, ask_again(setup_request(server_))));
    ids_.emplace(source_);
    if (PENNA_TRY(is_there())) {
      done_.was_there = true;
      return ok();
    }
    if (order_.begun) ++attempt_;
    PENNA_TRY(care_.note(attempt_));
    for (const FleetTable& table : fleet_tables()) PENNA_TRY(send_table(table));
    return ok();
  }

 private:
  using Outcome = FleetAnswer::Outcome;

  // A request that may be carried out twice: until there is an answer, or no more patience.
  FleetAnswer ask_again(const FleetRequest& request) {
    for (unsigned tries = 1;; ++tries) {
      FleetAnswer answer = server_.ask(request);
      if (answer.is_done() || answer.outcome == Outcome::kRefused || !care_.wait(tries, answer.text)) return answer;
    }
  }
  Result<std::string> ask(const std::string& query) {
    // In a cluster, both sides of an IN are asked of all shards.
    FleetAnswer answer = ask_again({query, {}, {{"distributed_product_mode", "global"}}});
    if (!answer.is_done()) return Error{std::move(answer.text)};
    return std::move(answer.text);
  }
  std::string rows_of(const FleetTable& table) const {
    return fmt::format("{}.{}_rows", server_.database(), table.name);
  }
  std::string where_ours() const {
    return fmt::format("service = {} AND host = {}", fleet_quoted(labels_.service), fleet_quoted(labels_.host));
  }

  // Is all of it there? Also looks whether a part of it is.
  Result<bool> is_there() {
    const std::string id = fleet_id_text(ids_->recording());
    const std::string text =
        PENNA_TRY(ask(fmt::format("SELECT name, value, max(attempt) FROM {}.label_rows WHERE recording = '{}' GROUP BY "
                                  "name, value ORDER BY name, value",
                                  server_.database(), id)));
    LabelList there;
    for (const std::vector<std::string>& row : tab_separated(text)) {
      if (row.size() != 3) return Error{fmt::format("{} gives an answer that makes no sense", server_.name())};
      there.emplace_back(row[0], row[1]);
      // The push was begun elsewhere: a number that may have been used must not be used again.
      if (!order_.begun)
        attempt_ = std::max(attempt_, static_cast<uint32_t>(std::strtoul(row[2].c_str(), nullptr, 10)) + 1);
    }
    is_fresh_ = there.empty() && !order_.begun;
    if (there.empty()) return false;
    if (there != order_.labels)
      return Error{fmt::format("{} has {} with other labels ({}): push it with these", server_.name(),
                               source_.recording().path(), label_text(there))};
    const std::string count = PENNA_TRY(ask(
        fmt::format("SELECT count() FROM {}.recording WHERE id = '{}' AND {}", server_.database(), id, where_ours())));
    return count != "0\n";
  }
  static std::string label_text(const LabelList& labels) {
    std::string text;
    for (const auto& [name, value] : labels) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    return printable(text);
  }

  Result<> send_table(const FleetTable& table) {
    arrived_.clear();
    const bool is_dictionary = table.order == FleetOrder::kDictionary;
    if (!is_fresh_ && !is_dictionary) PENNA_TRY(find_arrived(table));
    const TakeBlock take = [&](const RowBlock& block, uint16_t day) { return send(table, block, day); };
    if (table.source == nullptr) return send_labels(table, take);
    std::set<FleetId> wanted;
    if (is_dictionary) wanted = PENNA_TRY(unknown_keys(table));
    return each_block(
        source_, *ids_, table, order_.today, [&](const FleetId& key) { return wanted.contains(key); }, take);
  }

  Result<> send_labels(const FleetTable& table, const TakeBlock& take) {
    RowBlock block(table);
    for (const auto& [name, value] : order_.labels) {
      block.begin_row(block.rows(), shard_of(ids_->recording()));
      block.id(0, ids_->recording());
      block.text(1, name);
      block.text(2, value);
    }
    return take(block, day_of(source_));
  }

  Result<> find_arrived(const FleetTable& table) {
    const std::string text = PENNA_TRY(
        ask(fmt::format("SELECT DISTINCT block FROM {0} WHERE {1} = '{2}' AND {3} AND block NOT IN (SELECT block FROM "
                        "{4}.void_block)",
                        rows_of(table), table.name == "recording" ? "id" : "recording",
                        fleet_id_text(ids_->recording()), where_ours(), server_.database())));
    for (const std::vector<std::string>& row : tab_separated(text))
      arrived_.insert(std::strtoull(row[0].c_str(), nullptr, 10));
    return ok();
  }

  // For a dictionary: the keys of rows that the server lacks, or will drop before the rows that refer to them.
  Result<std::set<FleetId>> unknown_keys(const FleetTable& table) {
    std::vector<FleetId> keys;
    const bool is_symbol = table.source->table == SqlTable::kSymbol;
    if (is_symbol) {
      const WantsRow note = [&](const FleetId& key) { return keys.push_back(key), false; };
      PENNA_TRY(each_block(source_, *ids_, table, order_.today, note,
                           [](const RowBlock&, uint16_t) -> Result<> { return ok(); }));
    } else {
      keys = ids_->stacks();
    }
    // Frames are sent before their stack: every stack in `stack` has them.
    const std::string rows = fmt::format("{}.{}_rows", server_.database(), is_symbol ? "symbol" : "stack");
    std::set<FleetId> unknown(keys.begin(), keys.end());
    constexpr size_t kAtOnce = 4000;  // a query has at most 256 KiB
    for (size_t from = 0; from < keys.size(); from += kAtOnce) {
      std::vector<std::string> words;
      for (size_t i = from; i < std::min(keys.size(), from + kAtOnce); ++i)
        words.push_back(is_symbol ? fmt::format("{}", keys[i].low) : fmt::format("'{}'", fleet_id_text(keys[i])));
      std::string query = fmt::format("SELECT DISTINCT {0} FROM {1} WHERE {0} IN ({2})", is_symbol ? "row" : "id", rows,
                                      fmt::join(words, ","));
      if (keep_days_ != 0)
        query += fmt::format(" AND day > toDate({})",
                             order_.today - std::min<int>(order_.today, static_cast<int>(keep_days_)));
      std::set<std::string> known;
      for (std::vector<std::string>& row : tab_separated(PENNA_TRY(ask(query)))) known.insert(std::move(row[0]));
      for (size_t i = from; i < std::min(keys.size(), from + kAtOnce); ++i)
        if (known.contains(is_symbol ? fmt::format("{}", keys[i].low) : fleet_id_text(keys[i]))) unknown.erase(keys[i]);
    }
    return unknown;
  }

  bool has_arrived(const RowBlock& block) const {
    const uint64_t sum = block.checksum();
    for (uint32_t attempt = 0; attempt <= attempt_; ++attempt)
      if (arrived_.contains(block_number(sum, attempt))) return true;
    return false;
  }

  Result<> send(const FleetTable& table, const RowBlock& block, uint16_t day) {
    if (block.rows() == 0) return ok();
    const bool is_dictionary = table.order == FleetOrder::kDictionary;
    if (!arrived_.empty() && has_arrived(block)) {
      ++done_.blocks_before;
      return ok();
    }
    if (!is_fresh_ && !is_dictionary) {
      // An earlier push may have sent it without getting an answer.
      for (uint32_t attempt = 0; attempt < attempt_; ++attempt)
        PENNA_TRY(make_void(block_number(block.checksum(), attempt), day));
      is_fresh_ = true;
    }
    for (unsigned tries = 1;; ++tries) {
      const FleetAnswer answer = insert(table, block, day);
      if (answer.is_done()) break;
      if (answer.outcome == Outcome::kRefused || !care_.wait(tries, answer.text)) return Error{answer.text};
      if (answer.outcome == Outcome::kAway) continue;
      if (is_dictionary) continue;  // in a dictionary, equal rows are one
      if (PENNA_TRY(is_stored(table, block, day))) break;
      PENNA_TRY(make_void(block_number(block.checksum(), attempt_), day));
      PENNA_TRY(care_.note(attempt_ + 1));
      ++attempt_;
      ++done_.repeated;
    }
    ++done_.blocks;
    done_.rows += block.rows();
    return ok();
  }

  FleetAnswer insert(const FleetTable& table, const RowBlock& block, uint16_t day) {
    const std::string data = block.native(labels_, day, attempt_);
    done_.bytes += data.size();
    std::vector<std::string> names;
    for (const std::string& name : row_columns(table)) names.push_back(fmt::format("`{}`", name));
    // For a Distributed table: the answer comes once the shard has the block.
    return server_.ask({fmt::format("INSERT INTO {} ({}) FORMAT Native", rows_of(table), fmt::join(names, ", ")),
                        data,
                        {{"insert_distributed_sync", "1"}}});
  }

  Result<bool> is_stored(const FleetTable& table, const RowBlock& block, uint16_t day) {
    const std::string count =
        PENNA_TRY(ask(fmt::format("SELECT count() FROM {} WHERE block = {} AND day = toDate({}) AND {}", rows_of(table),
                                  block_number(block.checksum(), attempt_), day, where_ours())));
    return count != "0\n";
  }

  Result<> make_void(uint64_t number, uint16_t day) {
    const FleetAnswer answer =
        ask_again({fmt::format("INSERT INTO {}.void_block (shard, day, block) VALUES ({}, toDate({}), {})",
                               server_.database(), shard_of(ids_->recording()), day, number),
                   {},
                   {{"insert_distributed_sync", "1"}}});
    if (!answer.is_done()) return Error{answer.text};
    return ok();
  }

  FleetServer& server_;
  SqlSource& source_;
  const PushOrder& order_;
  const PushCare& care_;
  PushDone& done_;
  FleetLabels labels_;
  uint32_t attempt_;
  uint32_t keep_days_ = 0;
  bool is_fresh_ = true;  // nothing that was sent earlier can still arrive
  std::optional<FleetIds> ids_;
  std::set<uint64_t> arrived_;  // numbers of blocks of the table
};

}  // namespace

Result<uint32_t> check_fleet(FleetServer& server) { return keep_days_of(server, server.ask(setup_request(server))); }

Result<std::pair<std::string, std::string>> parse_label(const std::string& text) {
  constexpr size_t kMost = 200;
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (equals == std::string::npos || name.empty() || !std::all_of(name.begin(), name.end(), is_word))
    return Error{
        fmt::format("'{}' is no label: write NAME=VALUE, the name of a-z, 0-9 and _, as service=checkout", text)};
  const std::string value = text.substr(equals + 1);
  if (value.empty() || value.size() > kMost || printable(value) != value)
    return Error{fmt::format("the value of the label {} is not allowed: 1 to {} printable bytes", name, kMost)};
  return std::pair(name, value);
}

Result<> push_recording(FleetServer& server, SqlSource& source, const PushOrder& order, const PushCare& care,
                        PushDone& done) {
  return Push(server, source, order, care, done).run();
}

}  // namespace penna
