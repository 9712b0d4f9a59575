// SPDX-License-Identifier: MIT
// Writes a manual page in mdoc(7), block by block.
//
// Invariant: whatever the text is, it is text: nothing of it is read as a macro or an escape.
#pragma once

#include <string>

namespace penna {

class MdocPage {
 public:
  // `name`: "penna-record". `summary`: what it is, without a full stop.
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
  // A line of macros and words that is right as it is.
  void macro(const std::string& line);

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& line) { text_ += line + "\n"; }

  std::string text_;
  bool fresh_ = true;  // right behind a heading, where no paragraph begins
};

// As one word of a macro line.
std::string mdoc_word(const std::string& text);

}  // namespace penna
