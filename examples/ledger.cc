// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static void* volatile kept[4];

__attribute__((noipa)) void remember(int i) { kept[i] = malloc(1000); }
__attribute__((noipa)) std::string entry(int i) { return std::string(200, 'x') + std::to_string(i); }
__attribute__((noipa)) void on_audio(float* sample) { *sample *= 0.5F; }

int main() {
  for (int i = 0; i < 4; i++) remember(i);
  std::vector<std::string> entries;
  for (int i = 0; i < 20; i++) entries.push_back(entry(i));
  std::thread([&] { entries.clear(); }).join();
  float sample = 1;
  on_audio(&sample);
  printf("%g\n", static_cast<double>(sample));
}
