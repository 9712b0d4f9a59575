// SPDX-License-Identifier: MIT
// The pages a recorder shares with its targets: they see its end and its death, and cannot disturb it.
#include "collect/doorbell.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <vector>

#include "base/fd.h"

namespace penna {
namespace {

constexpr size_t kPage = 4096;

// As targets map it.
Mapping map(int fd, int protection) {
  void* data = ::mmap(nullptr, kPage, protection, MAP_SHARED, fd, 0);
  return data == MAP_FAILED ? Mapping() : Mapping(data, kPage);
}

uint32_t life_word(const Mapping& page) {
  return __atomic_load_n(&reinterpret_cast<const penna_life*>(page.data())->recorder, __ATOMIC_RELAXED);
}

TEST(Doorbell, TargetsCannotWriteWhetherTheRecorderLives) {
  auto doorbell = Doorbell::create();
  ASSERT_TRUE(doorbell);
  EXPECT_FALSE(map(doorbell->life_fd(), PROT_READ | PROT_WRITE));
  EXPECT_LT(::pwrite(doorbell->life_fd(), "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(doorbell->life_fd(), 0), 0);
  EXPECT_NE(::ftruncate(doorbell->fd(), 0), 0) << "a shrunk file would kill the recorder with SIGBUS";
  const Mapping page = map(doorbell->life_fd(), PROT_READ);
  ASSERT_TRUE(page);
  EXPECT_NE(::mprotect(page.data(), kPage, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(static_cast<uint32_t>(::gettid()), life_word(page));
}

TEST(Doorbell, PagesTellNoAddressOfTheRecorder) {
  auto doorbell = Doorbell::create();
  ASSERT_TRUE(doorbell);
  const Mapping bell = map(doorbell->fd(), PROT_READ), life = map(doorbell->life_fd(), PROT_READ);
  ASSERT_TRUE(bell && life);
  EXPECT_TRUE(std::all_of(bell.data(), bell.data() + kPage, [](uint8_t byte) { return byte == 0; }));
  EXPECT_TRUE(std::all_of(life.data() + sizeof(uint32_t), life.data() + kPage, [](uint8_t byte) { return byte == 0; }));
}

TEST(Doorbell, ItsEndIsSeen) {
  Mapping page;
  {
    auto doorbell = Doorbell::create();
    ASSERT_TRUE(doorbell);
    page = map(doorbell->life_fd(), PROT_READ);
    EXPECT_EQ(0u, life_word(page) & PENNA_RECORDER_GONE);
  }
  EXPECT_NE(0u, life_word(page) & PENNA_RECORDER_GONE);
}

// By SIGKILL, too.
TEST(Doorbell, ItsDeathIsSeen) {
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  const pid_t recorder = ::fork();
  ASSERT_GE(recorder, 0);
  if (recorder == 0) {
    auto doorbell = Doorbell::create();
    const int fd = doorbell ? doorbell->life_fd() : -1;
    (void)!::write(ends[1], &fd, sizeof fd);
    for (;;) ::pause();
  }
  int fd = -1;
  ASSERT_EQ(static_cast<ssize_t>(sizeof fd), ::read(ends[0], &fd, sizeof fd));
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, recorder, 0)));
  const Fd life(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), fd, 0)));
  const Mapping page = map(life.get(), PROT_READ);
  ASSERT_TRUE(page);
  EXPECT_EQ(static_cast<uint32_t>(recorder), life_word(page));
  ::kill(recorder, SIGKILL);
  ASSERT_EQ(recorder, ::waitpid(recorder, nullptr, 0));
  EXPECT_NE(0u, life_word(page) & PENNA_RECORDER_GONE);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Doorbell, WhateverTargetsWriteItWorksAndEnds) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    auto doorbell = Doorbell::create();
    ASSERT_TRUE(doorbell);
    const Mapping page = map(doorbell->fd(), PROT_READ | PROT_WRITE);
    ASSERT_TRUE(page);
    const auto fill = [&] {
      std::vector<uint32_t> words(kPage / sizeof(uint32_t));
      for (uint32_t& word : words) word = (random() & 1) != 0 ? static_cast<uint32_t>(random()) : 0x41414140;
      std::memcpy(page.data(), words.data(), kPage);
    };
    fill();
    const uint32_t seen = doorbell->seen();
    EXPECT_LE(doorbell->expected(), 1u << 20);
    doorbell->met();
    doorbell->ring();
    doorbell->wait(seen, 0);
    fill();
  }
}

}  // namespace
}  // namespace penna
