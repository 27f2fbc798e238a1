/* replies, fed in two pieces, and a command formatted from the same bytes */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "hiredis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  redisReader *reader = redisReaderCreate();
  void *reply;
  size_t first = data[0] % size, length = size - first;
  char *format = malloc(size), *command;
  redisReaderFeed(reader, (const char *)data + 1, first > 0 ? first - 1 : 0);
  for (int i = 0; i < 2; i++) {
    while (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) freeReplyObject(reply);
    redisReaderFeed(reader, (const char *)data + first, length);
  }
  redisReaderFree(reader);
  memcpy(format, data + 1, size - 1);
  format[size - 1] = 0;
  for (char *at = format; (at = strchr(at, '%')); at++) if (at[1] != 's') *at = '_';
  if (redisFormatCommand(&command, format, "a", "bc", "", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p") > 0) redisFreeCommand(command);
  free(format);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
