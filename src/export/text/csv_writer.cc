// SPDX-License-Identifier: MIT
// See csv_writer.h.
#include "export/text/csv_writer.h"

#include <algorithm>

#include "base/printable.h"

namespace penna {

void CsvWriter::separate() {
  if (in_row_) out_.character(',');
  in_row_ = true;
}

// Quoted as in RFC 4180, and also if blanks at the ends would be trimmed by many readers.
void CsvWriter::field(std::string_view text) {
  separate();
  // Must outlive `text`, which may point into it.
  std::string shown;
  if (!is_plain_ascii(text)) text = shown = printable(text);
  const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!outer_space && text.find_first_of(",\"") == std::string_view::npos) return out_.text(text);
  out_.character('"');
  for (size_t at = 0; at <= text.size();) {
    const size_t quote = std::min(text.find('"', at), text.size());
    out_.text(text.substr(at, quote - at));
    if (quote < text.size()) out_.text("\"\"");
    at = quote + 1;
  }
  out_.character('"');
}

void CsvWriter::field(int64_t number) {
  separate();
  out_.integer(number);
}

void CsvWriter::field(uint64_t number) {
  separate();
  out_.integer(number);
}

void CsvWriter::field(double number) {
  separate();
  out_.format("{}", number);
}

void CsvWriter::address(uint64_t value) {
  separate();
  // In hexadecimal: spreadsheets would round an address to 53 bits.
  out_.format("{:#x}", value);
}

void CsvWriter::end_row() {
  in_row_ = false;
  out_.text("\n");
}

}  // namespace penna
