/* interpret one script */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "wren.h"
#undef malloc

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *source = malloc(size + 1);
  memcpy(source, data, size);
  source[size] = 0;
  if (strstr(source, "while") || strstr(source, "for")) {
    free(source);
    return 0;
  }
  WrenConfiguration configuration;
  wrenInitConfiguration(&configuration);
  configuration.initialHeapSize = 4096;
  configuration.minHeapSize = 4096;
  WrenVM *vm = wrenNewVM(&configuration);
  wrenInterpret(vm, source);
  wrenFreeVM(vm);
  free(source);
  return 0;
}
