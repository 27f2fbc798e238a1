/* Runs each input as a Lua chunk with the standard libraries; what the script prints is the output. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  if (luaL_loadbuffer(state, (const char *)data, size, "=in") || lua_pcall(state, 0, 0, 0))
    printf("lua error: %s\n", lua_tostring(state, -1));
  lua_close(state);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }

/* Each input gets a heap block of exactly its size, so that AddressSanitizer sees its end. */
static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 2;
  }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  uint8_t *data = malloc(size ? size : 1);
  if (!data || fread(data, 1, size, file) != (size_t)size) return 2;
  fclose(file);
  fprintf(stderr, "harness: %ld bytes\n", size);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 0;
}

/* An input, or a folder of inputs. */
static int run(const char *path) {
  struct dirent **entries;
  int status = 0, count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) return run_file(path);
  for (int i = 0; i < count; i++) {
    char inside[4096];
    snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && !status) status = run_file(inside);
    free(entries[i]);
  }
  free(entries);
  return status;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc && !status; i++) status = run(argv[i]);
  return status;
}
