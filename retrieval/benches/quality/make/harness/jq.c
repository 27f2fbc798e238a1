/* a program, a NUL, and the value it is run on */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "jq.h"
#include "jv.h"

static void quiet(void *data, jv message) { jv_free(message); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 400) return 0;
  const uint8_t *end = memchr(data, 0, size);
  size_t length = end ? (size_t)(end - data) : size;
  char *program = malloc(length + 1);
  memcpy(program, data, length);
  program[length] = 0;
  if (strstr(program, "import") || strstr(program, "include") || strstr(program, "range") || strstr(program, "recurse") || strstr(program, "def") || strstr(program, "input")) {
    free(program);
    return 0;
  }
  jq_state *jq = jq_init();
  jq_set_error_cb(jq, quiet, NULL);
  jq_set_attr(jq, jv_string("JQ_ORIGIN"), jv_string("/"));
  jq_set_attr(jq, jv_string("JQ_LIBRARY_PATH"), jv_array());
  jv value = end ? jv_parse_sized((const char *)end + 1, (int)(size - length - 1)) : jv_null();
  if (!jv_is_valid(value)) {
    jv_free(value);
    value = jv_null();
  }
  if (jq_compile(jq, program)) {
    jq_start(jq, value, 0);
    for (int i = 0; i < 30; i++) {
      jv one = jq_next(jq);
      int go_on = jv_is_valid(one);
      if (go_on) jv_free(jv_dump_string(one, JV_PRINT_SORTED | JV_PRINT_COLOR | JV_PRINT_PRETTY));
      else jv_free(one);
      if (!go_on) break;
    }
  } else {
    jv_free(value);
  }
  jq_teardown(&jq);
  free(program);
  return 0;
}
