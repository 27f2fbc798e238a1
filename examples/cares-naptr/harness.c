/* Parses each input as the DNS reply to a NAPTR question and prints the records. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "ares.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ares_naptr_reply *reply = NULL;
  int status = ares_parse_naptr_reply(data, (int)size, &reply);
  printf("status %d\n", status);
  if (status != ARES_SUCCESS) return -1;
  for (struct ares_naptr_reply *at = reply; at; at = at->next)
    printf("%u %u \"%s\" \"%s\" \"%s\" %s\n", at->order, at->preference, (char *)at->flags, (char *)at->service,
           (char *)at->regexp, at->replacement);
  if (reply) ares_free_data(reply);
  return 0;
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
