/* the tree of an HTML document */
#include <stdint.h>
#include "gumbo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  GumboOptions options = kGumboDefaultOptions;
  GumboOutput *output = gumbo_parse_with_options(&options, (const char *)data, size);
  if (output) gumbo_destroy_output(output);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
