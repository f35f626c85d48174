#include <cerrno>
#include <cstddef>

/** What newlib asks of an operating system, and gets from none: no heap, no files. */
extern "C" {

void *_sbrk(ptrdiff_t) {
    errno = ENOMEM;
    return reinterpret_cast<void *>(-1);
}

__attribute__((weak)) int _write(int, const char *, int) { return -1; }
int _read(int, char *, int) { return -1; }
int _close(int) { return -1; }
int _lseek(int, int, int) { return -1; }
int _fstat(int, void *) { return -1; }
int _isatty(int) { return 0; }
int _getpid() { return 1; }
int _kill(int, int) { return -1; }

/** Of abort: a fault, which is told after the restart. */
void _exit(int) { __builtin_trap(); }
}
