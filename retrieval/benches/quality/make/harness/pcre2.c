/* compile a pattern, match and substitute the text behind its NUL */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include "pcre2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 300) return 0;
  uint32_t options = (data[0] & 1 ? PCRE2_UTF : 0) | (data[0] & 2 ? PCRE2_CASELESS : 0) | (data[0] & 4 ? PCRE2_EXTENDED : 0) | (data[0] & 8 ? PCRE2_DUPNAMES : 0);
  const uint8_t *end = memchr(data + 1, 0, size - 1);
  size_t length = end ? (size_t)(end - data - 1) : size - 1, rest = end ? size - length - 2 : 0, offset;
  PCRE2_SPTR text = end ? end + 1 : data + size;
  int error;
  pcre2_code *code = pcre2_compile(data + 1, length, options, &error, &offset, NULL);
  if (!code) {
    PCRE2_UCHAR message[128];
    pcre2_get_error_message(error, message, sizeof message);
    return 0;
  }
  pcre2_match_context *context = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(context, 5000);
  pcre2_set_depth_limit(context, 300);
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
  pcre2_match(code, text, rest, 0, 0, match, context);
  int workspace[200];
  pcre2_dfa_match(code, text, rest, 0, 0, match, context, workspace, 200);
  PCRE2_UCHAR out[400];
  PCRE2_SIZE written = sizeof out;
  pcre2_substitute(code, text, rest, 0, PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED, match, context, (PCRE2_SPTR) "<$0\\U${1:-none}>", PCRE2_ZERO_TERMINATED, out, &written);
  pcre2_match_data_free(match);
  pcre2_match_context_free(context);
  pcre2_code_free(code);
  PCRE2_UCHAR *converted = NULL;
  PCRE2_SIZE many;
  if (pcre2_pattern_convert(data + 1, length, data[0] & 16 ? PCRE2_CONVERT_GLOB : PCRE2_CONVERT_POSIX_EXTENDED, &converted, &many, NULL) == 0) pcre2_converted_pattern_free(converted);
  return 0;
}
