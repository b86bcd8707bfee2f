/* Loaded before the C library: the n-th call that opens, writes, renames or syncs a file below a
 * folder, or makes a folder there, fails. `failing_io.py` says which, and with which error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096]; /* none at first */
static long made, failing;
static int with;

void fail_at(const char *below, long call, int error) {
  snprintf(folder, sizeof folder, "%s/", below);
  made = 0, failing = call, with = error;
}

long calls(void) { return made; }

static int fails(const char *path) {
  char whole[8192] = "";
  if (!*folder) return 0;
  if (*path != '/' && getcwd(whole, 4096)) strcat(whole, "/");
  strncat(whole, path, 4000);
  if (strncmp(whole, folder, strlen(folder)) || ++made != failing) return 0;
  errno = with;
  return 1;
}

static int fails_at(int handle) {
  char link[64], path[4096];
  if (!*folder) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  ssize_t n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = 0;
  return n >= 0 && fails(path);
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, #name))
#define MODE(last) va_list more; va_start(more, last); mode_t mode = va_arg(more, mode_t); va_end(more)
#define OPEN(name)                                                                         \
  int name(const char *path, int flags, ...) {                                             \
    MODE(flags);                                                                           \
    return fails(path) ? -1 : REAL(name, int (*)(const char *, int, ...))(path, flags, mode); \
  }
#define OPENAT(name)                                                                       \
  int name(int at, const char *path, int flags, ...) {                                     \
    MODE(flags);                                                                           \
    return fails(path) ? -1 : REAL(name, int (*)(int, const char *, int, ...))(at, path, flags, mode); \
  }
#define ON_HANDLE(type, name, parameters, arguments) \
  type name parameters { return fails_at(handle) ? -1 : REAL(name, type(*) parameters) arguments; }
#define ON_PATH(name, parameters, arguments) \
  int name parameters { return fails(path) ? -1 : REAL(name, int(*) parameters) arguments; }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
ON_HANDLE(ssize_t, write, (int handle, const void *from, size_t size), (handle, from, size))
ON_HANDLE(ssize_t, writev, (int handle, const struct iovec *from, int n), (handle, from, n))
ON_HANDLE(ssize_t, pwrite, (int handle, const void *from, size_t size, off_t at), (handle, from, size, at))
ON_HANDLE(ssize_t, pwrite64, (int handle, const void *from, size_t size, off64_t at), (handle, from, size, at))
ON_HANDLE(int, fsync, (int handle), (handle))
ON_HANDLE(int, fdatasync, (int handle), (handle))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(renameat, (int at, const char *path, int to_at, const char *to), (at, path, to_at, to))
