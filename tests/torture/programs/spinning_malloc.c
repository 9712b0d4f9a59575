/* SPDX-License-Identifier: MIT
 * Has its own allocator, like browsers, linkers and compilers, and uses it through a linked library: one lock around
 * everything, and an abort if a block is freed that is not its own. A thread that allocates while holding the lock
 * waits forever: built to spin (like PartitionAlloc), LOCKED by a mutex, or with ASKING, which looks a function up in
 * its first call, like jemalloc. */
#include <dlfcn.h>
#include <sys/mman.h>

#include "torture.h"

void* user_take(size_t size);
void* user_zeros(size_t size);
void* user_resize(void* block, size_t size);
void user_give(void* block);

static _Alignas(64) char heap[64 << 20];
static size_t used;
static long taken;
static int (*sees)(const char*, int);

#ifdef LOCKED
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void take_lock(void) { pthread_mutex_lock(&mutex); }
static void give_lock(void) { pthread_mutex_unlock(&mutex); }
#else
static int lock;
static void take_lock(void) {
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}
static void give_lock(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }
#endif

/* Under the lock: typical allocator initialization. */
static void begin(void) {
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page, 4096);
#ifdef ASKING
  *(void**)&sees = dlsym(RTLD_NEXT, "access");
#else
  sees = access;
#endif
}

void* memalign(size_t align, size_t size) {
  size_t header = align < 16 ? 16 : align;
  take_lock();
  if (used == 0) begin();
  size_t start = (used + header + align - 1) / align * align, end = (start + size + 15) / 16 * 16;
  int fits = end <= sizeof heap;
  if (fits) used = end, taken++;
  give_lock();
  if (!fits) return errno = ENOMEM, NULL;
  memcpy(heap + start - 8, &size, 8);
  return heap + start;
}
void* malloc(size_t size) { return memalign(16, size); }
void* aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void** block, size_t align, size_t size) { return (*block = memalign(align, size)) ? 0 : ENOMEM; }
void* calloc(size_t count, size_t size) { return memalign(16, count * size); } /* never reused: zero */
void free(void* block) {
  static const char text[] = "a block of somebody else's\n";
  if (block == NULL) return;
  take_lock();
  int is_own = (char*)block >= heap && (char*)block < heap + used;
  give_lock();
  if (!is_own) write(2, text, sizeof text - 1), abort();
}
void* realloc(void* block, size_t size) {
  void* fresh = malloc(size);
  size_t old = 0;
  if (block) memcpy(&old, (char*)block - 8, 8);
  if (fresh && block) memcpy(fresh, block, old < size ? old : size);
  free(block);
  return fresh;
}

static void* body(void* sum) {
  for (int i = 1; i < 300; i++) {
    char* block = user_zeros((size_t)i);
    block = user_resize(block, (size_t)i + 50);
    *(long*)sum += block[i / 2];
    free(block);
    user_give(malloc(10));
    free(user_take(10));
    work(3);
    dlsym(RTLD_DEFAULT, "there_is_no_such_function"); /* its error text is allocated here */
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  long sums[4] = {0};
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, body, &sums[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  const char* failed = dlopen("/there/is/no/such.so", RTLD_LAZY) ? "" : dlerror();
  long before = taken;
  user_give(user_take(10));
  printf("%s, %ld, one more %ld, all from here %d, sees %d\n", failed, sums[0], taken - before, taken > 4000,
         sees("/", R_OK));
  return 7;
}
