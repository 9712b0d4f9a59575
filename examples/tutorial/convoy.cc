// SPDX-License-Identifier: MIT
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::mutex log_mutex;

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

// As slow as a disk, for one line as for many.
void write_log(const std::string&) { pause(); }

void log_lines(const std::string& lines) {
  std::lock_guard lock(log_mutex);
  write_log(lines);
}

std::string do_job(int job) {
  pause();
  return "job " + std::to_string(job) + " is done\n";
}

void work(int worker) {
#ifdef FIXED
  std::string lines;
  for (int job = 0; job < 50; job++) lines += do_job(50 * worker + job);
  log_lines(lines);
#else
  for (int job = 0; job < 50; job++) log_lines(do_job(50 * worker + job));
#endif
}

int main() {
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; i++) workers.emplace_back(work, i);
  for (std::thread& worker : workers) worker.join();
}
