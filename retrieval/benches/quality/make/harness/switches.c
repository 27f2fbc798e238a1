/* the switches of sweep.py: the check HARVEST_OFF counts as false; HARVEST_HITS takes the numbers of those that were true */
#include <stdio.h>
#include <stdlib.h>

static int off = -1;
static unsigned char hit[1 << 16];

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("HARVEST_OFF");
  if (given) off = atoi(given);
}

int harvest_check(int number, int is_true) {
  if (!is_true) return 0;
  hit[number & 0xffff] = 1;
  return number != off;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("HARVEST_HITS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  for (int i = 0; i < 1 << 16; i++)
    if (hit[i]) fprintf(file, "%d\n", i);
  fclose(file);
}
