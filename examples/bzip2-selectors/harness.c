/* Decompresses each input in memory and prints what came of it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bzlib.h"

void bz_internal_error(int code) {
  fprintf(stderr, "bz_internal_error %d\n", code);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bz_stream stream;
  char out[4096];
  size_t total = 0;
  uint32_t hash = 2166136261u; /* FNV-1a of the output */
  int status;
  memset(&stream, 0, sizeof stream);
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return 0;
  stream.next_in = (char *)data;
  stream.avail_in = size;
  do {
    stream.next_out = out;
    stream.avail_out = sizeof out;
    status = BZ2_bzDecompress(&stream);
    size_t got = sizeof out - stream.avail_out;
    for (size_t i = 0; i < got; i++) hash = (hash ^ (uint8_t)out[i]) * 16777619u;
    total += got;
  } while (status == BZ_OK && stream.avail_out == 0);
  printf("status %d, %zu bytes, hash %08x\n", status, total, hash);
  BZ2_bzDecompressEnd(&stream);
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
