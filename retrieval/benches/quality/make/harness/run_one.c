/* runs a harness on one file */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  uint8_t *data = malloc(1 << 20);
  size_t size = fread(data, 1, 1 << 20, file);
  fclose(file);
  uint8_t *exact = malloc(size ? size : 1);
  for (size_t i = 0; i < size; i++) exact[i] = data[i];
  free(data);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}
