/* parse and load one wasm module, then compile (not run) every exported function named f */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "wasm3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  IM3Environment e = m3_NewEnvironment();
  IM3Runtime r = m3_NewRuntime(e, 64 * 1024, NULL);
  IM3Module m = NULL; IM3Function f;
  M3Result x = m3_ParseModule(e, &m, data, (uint32_t)size);
  if (!x) { if ((x = m3_LoadModule(r, m))) m3_FreeModule(m); else x = m3_FindFunction(&f, r, "f"); }
  if (x) fprintf(stderr, "wasm3: %s\n", x);
  m3_FreeRuntime(r); m3_FreeEnvironment(e);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }

