/* Runs a libFuzzer harness on files, for compilers without libFuzzer. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
/* Mutators of a harness call it, and nothing calls these here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) { return data && size < room ? size : room; }
#ifdef __cplusplus
}
#endif

int main(int argc, char **argv) {
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  for (int at = 1; at < argc; at++) {
    FILE *file = fopen(argv[at], "rb");
    if (!file) {
      perror(argv[at]);
      return 2;
    }
    uint8_t *data = NULL;
    size_t size = 0, room = 0, got = 0;
    do {
      size += got;
      if (size == room) {
        room = room ? 2 * room : 4096;
        data = (uint8_t *)realloc(data, room);
        if (!data) return 2;
      }
      got = fread(data + size, 1, room - size, file);
    } while (got > 0);
    fclose(file);
    /* The harness gets memory of the exact size, so that one byte too far is seen. */
    uint8_t *exact = (uint8_t *)malloc(size ? size : 1);
    if (!exact) return 2;
    for (size_t byte = 0; byte < size; byte++) exact[byte] = data[byte];
    free(data);
    fprintf(stderr, "Running: %s\n", argv[at]);
    LLVMFuzzerTestOneInput(exact, size);
    fprintf(stderr, "Executed %s\n", argv[at]);
    free(exact);
  }
  return 0;
}
