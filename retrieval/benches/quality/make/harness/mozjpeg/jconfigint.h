#define BUILD "0"
#define INLINE inline __attribute__((always_inline))
#define HIDDEN __attribute__((visibility("hidden")))
#define THREAD_LOCAL __thread
#define SIZEOF_SIZE_T 8
#define HAVE_BUILTIN_CTZL 1
#define FALLTHROUGH
#define PACKAGE_NAME "mozjpeg-sys"
#define VERSION "2.2.3"
