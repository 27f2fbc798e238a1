/* up to the first zero byte a regular expression, then the text that it searches */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "oniguruma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const uint8_t *end = memchr(data, 0, size);
  size_t length = end ? (size_t)(end - data) : size / 2, from = end ? length + 1 : length;
  uint8_t *pattern = malloc(length ? length : 1), *text = malloc(size - from + 1);
  memcpy(pattern, data, length); memcpy(text, data + from, size - from);
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  onig_set_retry_limit_in_match(20000);
  regex_t *regex; OnigErrorInfo info;
  if (onig_new(&regex, pattern, pattern + length, ONIG_OPTION_DEFAULT, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info) == ONIG_NORMAL) {
    OnigRegion *region = onig_region_new();
    onig_search(regex, text, text + (size - from), text, text + (size - from), region, ONIG_OPTION_NONE);
    onig_region_free(region, 1); onig_free(regex);
  }
  free(pattern); free(text);
  return 0;
}
