// SPDX-License-Identifier: MIT
// Writes the manual pages: penna_manual SOURCE OUT makes OUT/man1, man3 and man5. Run by the build.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/manual/markdown_page.h"
#include "cli/manual/verb_pages.h"

namespace {

bool write(const std::string& out, const std::string& name, int section, const std::string& text) {
  const std::string directory = out + "/man" + std::to_string(section);
  std::filesystem::create_directories(directory);
  std::ofstream file(directory + "/" + name + "." + std::to_string(section));
  file << text;
  return file.flush().good();
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: penna_manual SOURCE OUT\n", stderr), 2;
  const std::string docs = std::string(argv[1]) + "/docs/", out = argv[2];
  bool good = write(out, "penna", 1, penna::penna_page());
  for (const penna::Verb& verb : penna::verbs())
    good &= write(out, std::string("penna-") + verb.name, 1, penna::verb_page(verb));
  good &= write(out, "penna-point", 3, penna::markdown_page("penna-point", 3, contents(docs + "points.md")));
  good &= write(out, "penna-format", 5, penna::markdown_page("penna-format", 5, contents(docs + "format.md")));
  return good ? 0 : 1;
}
