/* compile a pattern and match the text behind its NUL, also with errors allowed */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tre.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 200) return 0;
  int flags = data[0] & 0x4f;
  const uint8_t *end = memchr(data + 1, 0, size - 1);
  size_t length = end ? (size_t)(end - data - 1) : size - 1;
  const char *text = (const char *)(end ? end + 1 : data + size);
  size_t rest = end ? size - length - 2 : 0;
  regex_t regex;
  regmatch_t match[8];
  if (tre_regncomp(&regex, (const char *)data + 1, length, flags)) return 0;
  tre_regnexec(&regex, text, rest, 8, match, 0);
  regaparams_t parameters;
  tre_regaparams_default(&parameters);
  parameters.max_cost = 2;
  regamatch_t approximate = {8, match};
  tre_reganexec(&regex, text, rest, &approximate, parameters, 0);
  tre_regfree(&regex);
  return 0;
}
