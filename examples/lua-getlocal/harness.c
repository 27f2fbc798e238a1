/* Runs each input as a Lua chunk with the standard libraries; what the script prints is the output. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  int failed = luaL_loadbuffer(state, (const char *)data, size, "=in") || lua_pcall(state, 0, 0, 0);
  if (failed) printf("lua error: %s\n", lua_tostring(state, -1));
  lua_close(state);
  return failed ? -1 : 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }

/* Each input gets a heap block of exactly its size, so that AddressSanitizer sees its end. Exits with 1 when an input
   was rejected, so that accepted and rejected inputs can be told apart. */
int main(int argc, char **argv) {
  int rejected = 0;
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) {
      perror(argv[i]);
      return 2;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != (size_t)size) return 2;
    fclose(file);
    fprintf(stderr, "harness: %ld bytes\n", size);
    if (LLVMFuzzerTestOneInput(data, size)) rejected = 1;
    free(data);
  }
  return rejected;
}
