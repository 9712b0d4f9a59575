// SPDX-License-Identifier: MIT
// Writes a manual page in mdoc(7), block by block.
//
// Invariant: any text stays text: none of it is interpreted as a macro or an escape.
#pragma once

#include <string>

namespace penna {

class MdocPage {
 public:
  // `name`: "penna-record". `summary`: a phrase without a period.
  MdocPage(const std::string& name, int section, const std::string& summary);

  void heading(const std::string& text);
  void subheading(const std::string& text);
  // In all of these `code` and **strong** words are bold, and [a link](page.md) is its text.
  void paragraph(const std::string& text);
  void literal(const std::string& lines);
  enum class List { kTagged, kBullets, kNumbers };
  void begin(List list);
  void item(const std::string& tag, const std::string& text);  // bullets and numbers have no tag
  void end();
  // A line of macros and words, verbatim.
  void macro(const std::string& line);

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& line) { text_ += line + "\n"; }

  std::string text_;
  bool fresh_ = true;  // right after a heading, where no paragraph begins
};

// As one word of a macro line.
std::string mdoc_word(const std::string& text);

}  // namespace penna
