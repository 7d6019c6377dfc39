/* Loaded before the C library: writes one byte to the file that COUNT_SYNCS_TO names for each fsync and fdatasync of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void count(void) {
  int file = open(getenv("COUNT_SYNCS_TO"), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, ".", 1) != 1) abort();
  close(file);
}

int fsync(int fd) {
  count();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  count();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
