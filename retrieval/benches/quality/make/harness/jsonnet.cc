// one snippet is evaluated
#include <stdint.h>
#include <string>
extern "C" {
#include "libjsonnet.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  JsonnetVm *vm = jsonnet_make();
  jsonnet_max_stack(vm, 50);
  int error = 0;
  char *out = jsonnet_evaluate_snippet(vm, "in", text.c_str(), &error);
  jsonnet_realloc(vm, out, 0);
  jsonnet_destroy(vm);
  return 0;
}
