// SPDX-License-Identifier: MIT
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Session {
  std::string user;
  char page[2000];
};

std::map<int, Session*> sessions;
std::vector<std::string> journal;
size_t printed;

void log_in(int user) { sessions[user] = new Session{"user " + std::to_string(user), {}}; }

void log_out(int user) {
  delete sessions[user];
  sessions.erase(user);
}

// Of a user who never logged out.
void expire(int user) {
#ifdef FIXED
  delete sessions[user];
#endif
  sessions.erase(user);
}

void serve(int user) {
  log_in(user);
  journal.push_back("served user " + std::to_string(user));
  if (user % 10 == 0)
    expire(user);
  else
    log_out(user);
}

std::string page_of(const std::string& line) { return line + std::string(1000, '.'); }

void print(const std::string& page) { printed += page.size(); }

void report() {
#ifdef FIXED
  for (const std::string& line : journal) print(page_of(line));
#else
  std::vector<std::string> pages;
  for (const std::string& line : journal) pages.push_back(page_of(line));
  for (const std::string& page : pages) print(page);
#endif
}

int main() {
  for (int user = 1; user <= 2000; user++) serve(user);
  report();
  printf("2000 users, a report of %zu bytes\n", printed);
}
