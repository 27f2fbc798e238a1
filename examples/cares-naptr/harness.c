/* Parses each input as the DNS reply to a NAPTR question and prints the records. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "ares.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ares_naptr_reply *reply = NULL;
  int status = ares_parse_naptr_reply(data, (int)size, &reply);
  printf("status %d\n", status);
  if (status != ARES_SUCCESS) return 0;
  for (struct ares_naptr_reply *at = reply; at; at = at->next)
    printf("%u %u \"%s\" \"%s\" \"%s\" %s\n", at->order, at->preference, (char *)at->flags, (char *)at->service,
           (char *)at->regexp, at->replacement);
  if (reply) ares_free_data(reply);
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
