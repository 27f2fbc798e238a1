/* Decompresses each input in memory and prints what came of it. */
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
  return status == BZ_STREAM_END ? 0 : -1;
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
