// SPDX-License-Identifier: MIT
// See facts.h.
#include "report/facts.h"

#include "report/columns.h"

namespace penna {

Table Facts::take(const char* key) {
  Table table;
  table.key = key;
  const Columns<Fact> columns = {
      {{"field", "", CellKind::kText}, [](const Fact& fact) { return fact.field; }},
      {prose({"value", "", CellKind::kText, true}), [](const Fact& fact) { return fact.value; }}};
  columns.fill(table, std::move(facts_));
  return table;
}

}  // namespace penna
