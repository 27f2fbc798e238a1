/* compiles what stands before the first zero byte as a regular expression, and runs it on the rest */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "libregexp.h"
#include "libunicode.h"

int lre_check_stack_overflow(void *opaque, size_t size) { (void)opaque; (void)size; return 0; }
void *lre_realloc(void *opaque, void *at, size_t size) {
  (void)opaque;
  if (size == 0) { free(at); return NULL; }
  return realloc(at, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int no_context;
  const uint8_t *zero = memchr(data, 0, size);
  size_t length = zero ? (size_t)(zero - data) : size;
  char error[64], *pattern = malloc(length + 1);
  if (length > 80) { free(pattern); return 0; }
  memcpy(pattern, data, length);
  pattern[length] = 0;
  int code_length, flags = zero ? zero[1 < size - length] & (LRE_FLAG_GLOBAL | LRE_FLAG_IGNORECASE | LRE_FLAG_MULTILINE | LRE_FLAG_DOTALL | LRE_FLAG_UTF16) : 0;
  uint8_t *code = lre_compile(&code_length, error, sizeof error, pattern, length, flags, &no_context);
  if (code && zero) {
    size_t left = size - length - 1;
    uint8_t *text = malloc(left + 1), **capture = malloc(sizeof *capture * (2 * lre_get_capture_count(code) + 1));
    memcpy(text, zero + 1, left);
    if (left < 24) lre_exec(capture, code, text, 0, left, 0, &no_context);
    free(text);
    free(capture);
  }
  free(code);
  free(pattern);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
