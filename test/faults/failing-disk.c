/* Loaded before the C library: while there is a file of the name in DISK_FAULTS, its text says what the disk of files named tenant.db… does:
   E fails to read, write and sync them (EIO), W to write them (EIO), S to sync them (EIO), F has no room to write them (ENOSPC). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_ours(int fd) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  const char *name = strrchr(path, '/');
  return name && strncmp(name, "/tenant.db", 10) == 0;
}

/* The error for one of "read", "write" and "sync", or 0. */
static int fault(int fd, const char *what) {
  const char *told = getenv("DISK_FAULTS");
  if (!told) return 0;
  int file = open(told, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char kind = 0;
  long got = syscall(SYS_read, file, &kind, 1);
  close(file);
  if (got != 1 || !is_ours(fd)) return 0;
  if (kind == 'E') return EIO;
  if (kind == 'W') return *what == 'w' ? EIO : 0;
  if (kind == 'S') return *what == 's' ? EIO : 0;
  if (kind == 'F') return *what == 'w' ? ENOSPC : 0;
  return 0;
}

#define FAILING(type, name, what, parameters, ...)                                    \
  type name parameters {                                                              \
    int found = fault(fd, what);                                                      \
    if (found) {                                                                      \
      errno = found;                                                                  \
      return -1;                                                                      \
    }                                                                                 \
    return ((type(*) parameters)dlsym(RTLD_NEXT, #name))(__VA_ARGS__);                \
  }

FAILING(ssize_t, read, "read", (int fd, void *to, size_t size), fd, to, size)
FAILING(ssize_t, pread, "read", (int fd, void *to, size_t size, off_t at), fd, to, size, at)
FAILING(ssize_t, pread64, "read", (int fd, void *to, size_t size, off64_t at), fd, to, size, at)
FAILING(ssize_t, write, "write", (int fd, const void *from, size_t size), fd, from, size)
FAILING(ssize_t, pwrite, "write", (int fd, const void *from, size_t size, off_t at), fd, from, size, at)
FAILING(ssize_t, pwrite64, "write", (int fd, const void *from, size_t size, off64_t at), fd, from, size, at)
FAILING(int, fsync, "sync", (int fd), fd)
FAILING(int, fdatasync, "sync", (int fd), fd)
