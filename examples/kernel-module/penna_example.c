/* SPDX-License-Identifier: MIT
 *
 * A kernel module that records: what processes write to its device (process context), and a timer of 1 ms (interrupt
 * context), on all processors at once, into one ring. Reading the device gives a stream for `penna import`:
 *
 *     insmod penna_example.ko && echo hello > /dev/penna_example && cat /dev/penna_example > x.stream
 *     penna import x.stream && penna report x.penna points
 *
 * Only the reader locks: an interrupt may occur between reserve and commit of the code that it interrupts.
 * Invariant: every record is in the stream once, in the order of its reservation, or counted as lost there. */
#include <asm/tsc.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>

#define PENNA_CLOCK_RATE (tsc_khz * 1000ull)
#include "penna/ring.h"
#include "penna/stream.h"

enum { kSiteWrite = 1, kSiteTick = 2, kSlotWords = 9, kTickNs = 1000000 };
#define INTERRUPT_THREAD 0x80000000u /* plus the processor's number: threads that are not processes */

PENNA_RING_DEFINE(ring, 1024, kSlotWords * 8);

static int ticks = 100;
module_param(ticks, int, 0444);
MODULE_PARM_DESC(ticks, "timer interrupts to record");
static int ticks_done;
module_param(ticks_done, int, 0444);
MODULE_PARM_DESC(ticks_done, "how many there have been");

/* ---- Writers ------------------------------------------------------------------------------------------------------ */

static void record_write(size_t bytes) {
  uint32_t ticket;
  uint64_t* unit = penna_ring_reserve(ring, &ticket);
  if (!unit) return;
  uint64_t* to = penna_unit_point(unit, (uint32_t)task_pid_nr(current), kSiteWrite);
  to = penna_unit_put_word(to, bytes);
  to = penna_unit_put_string(to, current->comm, TASK_COMM_LEN);
  penna_unit_end(unit, to);
  penna_ring_commit(ring, ticket);
}

static enum hrtimer_restart on_tick(struct hrtimer* timer) {
  uint32_t ticket;
  uint64_t* unit = penna_ring_reserve(ring, &ticket);
  int tick = READ_ONCE(ticks_done);
  if (unit) {
    uint64_t* to = penna_unit_point(unit, INTERRUPT_THREAD | (uint32_t)smp_processor_id(), kSiteTick);
    to = penna_unit_put_word(to, (uint64_t)tick);
    to = penna_unit_put_word(to, in_hardirq() != 0);
    to = penna_unit_put_word(to, (uint64_t)task_pid_nr(current));
    penna_unit_end(unit, to);
    penna_ring_commit(ring, ticket);
  }
  WRITE_ONCE(ticks_done, tick + 1);
  if (tick + 1 >= ticks) return HRTIMER_NORESTART;
  hrtimer_forward_now(timer, ns_to_ktime(kTickNs));
  return HRTIMER_RESTART;
}

/* ---- The reader: one at a time ------------------------------------------------------------------------------------ */

static DEFINE_MUTEX(reader_lock);
static uint32_t lost_told; /* under it */

/* An open device: what it returns next, and what is left of what it returned last. */
struct reader {
  uint64_t unit[PENNA_MAX_UNIT_WORDS];
  size_t at, end; /* bytes of it */
  unsigned described;
};

struct site {
  uint32_t id, line, arg_count;
  uint64_t types;
  const char* text;
  uint32_t text_bytes;
};
#define SITE(id, count, types, text) \
  { id, __LINE__, count, types, text, sizeof text }
static const struct site sites[] = {
    SITE(kSiteWrite, 2, PENNA_ARG_UINT | PENNA_ARG_STRING << 4, "kernel\0write\0penna_example.c\0bytes\0process"),
    SITE(kSiteTick, 3, PENNA_ARG_UINT | PENNA_ARG_BOOL << 4 | PENNA_ARG_UINT << 8,
         "kernel\0tick\0penna_example.c\0number\0hardirq\0interrupted")};

/* The header, the sites, and the names of interrupts, one per call; false when all have been returned. */
static bool describe(struct reader* reader) {
  unsigned step = reader->described++;
  if (step == 0) {
    char source[sizeof((struct penna_stream_header*)0)->source];
    snprintf(source, sizeof source, "Linux %s, penna_example", init_utsname()->release);
    penna_stream_begin((struct penna_stream_header*)reader->unit, source, ktime_get_ns(), ktime_get_real_ns());
    reader->end = sizeof(struct penna_stream_header);
    return true;
  }
  step -= 1;
  if (step < ARRAY_SIZE(sites)) {
    const struct site* site = &sites[step];
    penna_unit_site(reader->unit, site->id, PENNA_SITE_EVENT, site->line, (uintptr_t)&on_tick, site->text,
                    site->text_bytes, site->arg_count, site->types);
  } else if (step - ARRAY_SIZE(sites) < num_possible_cpus()) {
    char name[16];
    snprintf(name, sizeof name, "irq cpu%u", (unsigned)(step - ARRAY_SIZE(sites)));
    penna_unit_thread(reader->unit, INTERRUPT_THREAD | (uint32_t)(step - ARRAY_SIZE(sites)), name);
  } else {
    return false;
  }
  reader->end = penna_unit_bytes(reader->unit);
  return true;
}

/* The next piece of the stream, in reader->unit; false at its end. */
static bool next_piece(struct reader* reader) {
  uint32_t lost = penna_ring_dropped(ring) + penna_ring_abandoned(ring) - lost_told;
  reader->at = 0;
  if (describe(reader)) return true;
  if (penna_ring_read(ring, reader->unit)) {
    reader->end = penna_unit_bytes(reader->unit);
  } else if (lost != 0) {
    lost_told += lost;
    penna_unit_lost_points(reader->unit, lost);
    reader->end = penna_unit_bytes(reader->unit);
  } else {
    reader->end = 0;
  }
  return reader->end != 0;
}

static ssize_t device_read(struct file* file, char __user* to, size_t room, loff_t* position) {
  struct reader* reader = file->private_data;
  size_t given = 0;
  if (mutex_lock_interruptible(&reader_lock)) return -ERESTARTSYS;
  while (given < room && (reader->at < reader->end || next_piece(reader))) {
    size_t bytes = min(room - given, reader->end - reader->at);
    if (copy_to_user(to + given, (char*)reader->unit + reader->at, bytes)) {
      mutex_unlock(&reader_lock);
      return -EFAULT;
    }
    reader->at += bytes;
    given += bytes;
  }
  mutex_unlock(&reader_lock);
  *position += (loff_t)given;
  return (ssize_t)given;
}

static ssize_t device_write(struct file* file, const char __user* from, size_t bytes, loff_t* position) {
  record_write(bytes);
  return (ssize_t)bytes;
}

static int device_open(struct inode* inode, struct file* file) {
  struct reader* reader = kzalloc(sizeof *reader, GFP_KERNEL);
  if (!reader) return -ENOMEM;
  file->private_data = reader;
  return 0;
}

static int device_release(struct inode* inode, struct file* file) {
  kfree(file->private_data);
  return 0;
}

static const struct file_operations operations = {
    .owner = THIS_MODULE, .open = device_open, .release = device_release, .read = device_read, .write = device_write};
static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR, .name = "penna_example", .fops = &operations, .mode = 0600};
static struct hrtimer timer;

static int __init example_init(void) {
  int error = misc_register(&device);
  if (error) return error;
  hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
  timer.function = on_tick;
  hrtimer_start(&timer, ns_to_ktime(kTickNs), HRTIMER_MODE_REL_PINNED_HARD);
  return 0;
}

static void __exit example_exit(void) {
  hrtimer_cancel(&timer);
  misc_deregister(&device);
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Records into penna/ring.h from process and interrupt context");
