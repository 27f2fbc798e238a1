/* compiles what stands before the first zero byte, and matches the rest */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <stdint.h>
#include <string.h>
#include "pcre2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *zero = memchr(data, 0, size);
  size_t length = zero ? (size_t)(zero - data) : size, offset;
  int error;
  if (length > 120) return 0;
  pcre2_code *code = pcre2_compile(data, length, size % 2 ? PCRE2_UTF | PCRE2_UCP : PCRE2_EXTENDED, &error, &offset, NULL);
  if (!code) return 0;
  pcre2_match_context *context = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(context, 2000);
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
  const uint8_t *text = zero ? zero + 1 : data;
  pcre2_match(code, text, size - (size_t)(text - data), 0, 0, match, context);
  int workspace[100];
  pcre2_dfa_match(code, text, size - (size_t)(text - data), 0, 0, match, context, workspace, 100);
  pcre2_match_data_free(match);
  pcre2_match_context_free(context);
  pcre2_code_free(code);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
