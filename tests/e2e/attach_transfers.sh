#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads stopped in the middle of a transfer that blocks: it returns all that it was to transfer, once, in order; and
# calls that end after a while say that, not EINTR.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >transfers.c <<'C'
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
enum { kBytes = 4 << 20, kPiece = 64 << 10 };
static unsigned char out[kBytes], in[kBytes];
static int ends[2], file;
static int fail(const char* what) { return perror(what), exit(1), 1; }

// The other side: slow, and knows what must come.
static void drain(void) {
  static unsigned char piece[kPiece];
  size_t at = 0;
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0; at = (at + (size_t)got) % kBytes) {
    for (ssize_t i = 0; i < got; i++)
      if (piece[i] != out[(at + (size_t)i) % kBytes]) fail("not what was sent");
    usleep(3000);
  }
  exit(0);
}
static void fill(void) {
  for (size_t at = 0; write(ends[0], out + at, kPiece) == kPiece; at = (at + kPiece) % kBytes) usleep(3000);
  exit(0);
}
static void keep_silent(void) {
  for (;;) pause();
}

static ssize_t transfer(const char* how) {
  if (!strcmp(how, "write")) return write(ends[1], out, kBytes);
  if (!strcmp(how, "send")) return send(ends[1], out, kBytes, 0);
  if (!strcmp(how, "sendfile")) return sendfile(ends[1], file, &(off_t){0}, kBytes);
  struct iovec parts[] = {{out, 1000}, {out + 1000, 3 << 20}, {out, 0}, {out + 1000 + (3 << 20), kBytes - 1000 - (3 << 20)}};
  if (!strcmp(how, "writev")) return writev(ends[1], parts, 4);
  const ssize_t got = recv(ends[1], in, kBytes, MSG_WAITALL);
  return got == kBytes && memcmp(in, out, kBytes) == 0 ? got : -1;
}
static ssize_t time_out(void) {
  char byte;
  return recv(ends[1], &byte, 1, 0) == -1 && errno == EAGAIN ? kBytes : -1;
}

int main(int count, char** words) {
  if (count < 2) return 1;
  const int is_timeout = !strcmp(words[1], "timeout"), is_pipe = words[1][0] == 'w';
  for (size_t i = 0; i < kBytes; i++) out[i] = (unsigned char)(i * 7 + i / 251);
  file = memfd_create("file", 0);
  if (write(file, out, kBytes) != kBytes) return fail("write");
  if (is_pipe ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return fail("pair");
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[1]);
    is_timeout ? keep_silent() : strcmp(words[1], "all") ? drain() : fill();
  }
  close(ends[0]);
  const struct timeval moment = {0, 500000};
  if (is_timeout) setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
  while (access("enough", F_OK) != 0) {
    const ssize_t done = is_timeout ? time_out() : transfer(words[1]);
    if (done != kBytes) return fprintf(stderr, "%s: %zd of %d: %s\n", words[1], done, kBytes, strerror(errno)), 2;
    puts("done"), fflush(stdout);
  }
  return 0;
}
C
build_c transfers
attach_to_each ./transfers 3 "--no-follow -k alloc,locks" write writev send sendfile all timeout
