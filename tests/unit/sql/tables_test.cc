// SPDX-License-Identifier: MIT
// The description of the tables: docs/sql.md says the same, and keys refer to existing columns.
#include "sql/tables.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace penna {
namespace {

TEST(SqlTables, ThePageHasThem) {
  std::ifstream file(PENNA_SQL_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = sql_tables_markdown();
  EXPECT_NE(page.str().find(text), std::string::npos) << "docs/sql.md must hold this:\n" << text;
}

TEST(SqlTables, StandInTheOrderOfTheirNumbers) {
  ASSERT_EQ(sql_tables().size(), kSqlTables);
  for (size_t i = 0; i < kSqlTables; ++i) EXPECT_EQ(static_cast<size_t>(sql_tables()[i].table), i);
}

TEST(SqlTables, KeysLeadToAColumnThatIsOne) {
  for (const SqlTableDescription& table : sql_tables())
    for (const SqlColumn& column : table.columns) {
      const std::string key = column.key;
      if (key.empty() || key == "key") continue;
      const SqlTableDescription* other = find_sql_table(key.substr(0, key.find('.')));
      ASSERT_NE(other, nullptr) << table.name << "." << column.name;
      EXPECT_STREQ(other->columns[0].name, key.substr(key.find('.') + 1).c_str());
      EXPECT_STREQ(other->columns[0].key, "key");
    }
}

TEST(SqlTables, NoTableHasAColumnTwice) {
  for (const SqlTableDescription& table : sql_tables()) {
    std::set<std::string> names;
    for (const SqlColumn& column : table.columns) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  }
}

}  // namespace
}  // namespace penna
