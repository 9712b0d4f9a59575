// SPDX-License-Identifier: MIT
// See packed_page.h. The data, compressed by zlib and written in base64:
//
//   0     4               4+H
//   |  H  | index: JSON   | answer | answer | ...    offsets count from the end of the index
#include "view/packed_page.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "export/text/json_writer.h"
#include "view/page.h"

namespace penna {
namespace {

constexpr uint32_t kFinest = 8192, kCoarsest = 64;          // for the whole run
constexpr const char* kRows = "500";                        // of each table
constexpr size_t kSources = 200, kSourceBytes = 4'000'000;  // source files, and their text with its costs
constexpr size_t kPoints = 20;                              // points whose hits are listed: those with most
constexpr const char* kBlocks = "1000";                     // that are listed: the largest, each with its life

// Everything else is forbidden to the page: there is no server that could say so in a header.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'\">";

struct Answer {
  std::string question, body;
};

class Gatherer {
 public:
  Gatherer(Questions& questions, const Summary& summary) : questions_(questions), summary_(summary) {}

  // Answers that do not depend on the zoom.
  std::vector<Answer> of_whole_run() {
    std::vector<Answer> answers;
    for (const char* name : {"summary", "highlights", "threads", "tables"}) ask(answers, name, {});
    for (const TableName& table : questions_.tables_to_ask())
      ask(answers, "table", {{"name", table.key}, {"top", kRows}});
    for (const std::string& weight : questions_.weights_to_ask(summary_))
      for (const bool reverse : {false, true})
        reverse ? ask(answers, "flame", {{"reverse", "1"}, {"weight", weight}})
                : ask(answers, "flame", {{"weight", weight}});
    if (summary_.events[PENNA_ALLOC] != 0) ask(answers, "live_heap", {{"by", "function"}, {"px", "200"}});
    if (summary_.events[PENNA_ALLOC] != 0) ask(answers, "blocks", {{"top", kBlocks}});
    const std::vector<std::string> points = questions_.points_to_ask(kPoints);
    if (!points.empty()) ask(answers, "point_names", {});
    for (const std::string& point : points) ask(answers, "hits", {{"point", point}, {"top", kRows}});
    return answers;
  }
  // Source files and their costs; how many have no text here, or are not here.
  struct Sources {
    std::vector<Answer> answers{};
    std::string text{};
  };
  Sources of_sources() {
    Sources sources;
    ask(sources.answers, "sources", {});
    const std::vector<std::string> files = questions_.sources_to_ask();
    size_t bytes = 0, with_text = 0, unread = 0, beyond = 0;
    std::string names;
    for (const std::string& file : files) {
      std::vector<Answer> one;
      if (with_text + unread < kSources) ask(one, "source", {{"file", file}});
      if (one.empty() || bytes + one.front().body.size() > kSourceBytes) {
        if (++beyond <= 3) names += (names.empty() ? ": " : ", ") + file;
        continue;
      }
      bytes += one.front().body.size();
      const bool has_text = one.front().body.find("\"path\":") != std::string::npos;
      ++(has_text ? with_text : unread);
      sources.answers.push_back(std::move(one.front()));
    }
    sources.text = fmt::format("the text of {} of {} source files is in the page", with_text, files.size());
    if (unread != 0)
      sources.text +=
          fmt::format("; {} may not be shown or cannot be read (--source-dir DIR), only their costs are", unread);
    if (beyond != 0)
      sources.text += fmt::format("; {} that cost less are beyond {} files or {} MB{}{}", beyond, kSources,
                                  kSourceBytes / 1'000'000, names, beyond > 3 ? ", …" : "");
    return sources;
  }
  // The timeline's answers, at this resolution.
  std::vector<Answer> of_timeline(uint32_t pixels) {
    std::vector<Answer> answers;
    const std::string px = std::to_string(pixels);
    ask(answers, "counters", {{"px", px}});
    for (const ThreadSummary& thread : summary_.threads)
      for (const char* name : {"slices", "waits", "points"})
        ask(answers, name, {{"px", px}, {"thread", std::to_string(thread.thread)}});
    return answers;
  }
  std::vector<Answer> names() {
    std::vector<Answer> answers;
    for (uint32_t from = 0; from < questions_.name_count(); from += Questions::kMostNames)
      ask(answers, "names", {{"from", std::to_string(from)}});
    return answers;
  }

 private:
  // Spelled as the page does: parameters sorted by name.
  void ask(std::vector<Answer>& answers, const char* name, const HttpParameters& parameters) {
    HttpAnswer answer = questions_.answer(name, parameters);
    if (answer.status != 200) return;  // such as a weight that this recording does not have
    std::string question = name;
    for (const auto& [key, value] : parameters)
      question += fmt::format("{}{}={}", question.find('?') == question.npos ? '?' : '&', key, value);
    answers.push_back({std::move(question), std::move(answer.body)});
  }

  Questions& questions_;
  const Summary& summary_;
};

std::string index_of(const std::vector<Answer>& answers, uint32_t pixels, const std::string& note) {
  return json_text([&](JsonWriter& json) {
    json.key("answers");
    json.begin_array();
    uint64_t offset = 0;
    for (const Answer& answer : answers) {
      json.begin_object();
      json.field("question", answer.question);
      json.field("offset", offset);
      json.field("length", uint64_t{answer.body.size()});
      json.end_object();
      offset += answer.body.size();
    }
    json.end_array();
    json.field("px", pixels);
    json.field("note", note);
  });
}

std::string compressed(const std::vector<Answer>& answers, uint32_t pixels, const std::string& note) {
  std::string plain(4, '\0');
  const std::string index = index_of(answers, pixels, note);
  const auto bytes = static_cast<uint32_t>(index.size());
  plain.replace(0, 4, reinterpret_cast<const char*>(&bytes), 4);
  plain += index;
  for (const Answer& answer : answers) plain += answer.body;
  uLongf room = ::compressBound(plain.size());
  std::string packed(room, '\0');
  if (::compress2(reinterpret_cast<Bytef*>(packed.data()), &room, reinterpret_cast<const Bytef*>(plain.data()),
                  plain.size(), Z_BEST_COMPRESSION) != Z_OK)
    return {};
  packed.resize(room);
  return packed;
}

std::string base64(const std::string& bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? kDigits[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string note_on(const Summary& summary, uint32_t pixels) {
  return fmt::format(
      "calls, waits and points under {} ns are shown as sums; tables and flame graphs are of the whole run",
      std::max<int64_t>(summary.duration_ns / pixels, 1));
}

std::string with_data(const std::string& packed) {
  std::string text = page();
  const size_t head = text.find("<head>"), body = text.rfind("</body>");
  const size_t end = body == text.npos ? text.size() : body;
  text.insert(end,
              fmt::format("<script id=\"penna-data\" type=\"application/octet-stream\">{}</script>\n", base64(packed)));
  if (head != text.npos) text.insert(head + 6, kPolicy);
  return text;
}

}  // namespace

Result<PackedPage> pack_page(Questions& questions, const Summary& summary, const PackRequest& request) {
  Gatherer gatherer(questions, summary);
  std::vector<Answer> whole = gatherer.of_whole_run();
  PackedPage made;
  if (request.embeds_source) {
    Gatherer::Sources sources = gatherer.of_sources();
    made.sources = std::move(sources.text);
    std::move(sources.answers.begin(), sources.answers.end(), std::back_inserter(whole));
  }
  const std::string more_lacks = made.sources.empty() ? "; source files are with --embed-source" : "; " + made.sources;
  for (uint32_t pixels = kFinest; pixels >= kCoarsest; pixels /= 2) {
    std::vector<Answer> answers = whole;
    for (const std::vector<Answer>& more : {gatherer.of_timeline(pixels), gatherer.names()})
      answers.insert(answers.end(), more.begin(), more.end());
    made.text = with_data(compressed(answers, pixels, note_on(summary, pixels) + more_lacks));
    if (made.text.size() <= request.most) return made;
  }
  return Error{fmt::format("the page would be larger than {} MB: choose a part with -r, or use penna view",
                           request.most / 1'000'000)};
}

}  // namespace penna
