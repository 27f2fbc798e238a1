/* read replies in pieces; a first byte of `%` formats a command instead */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "hiredis.h"
#include "sds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  if (data[0] == '%') {
    char *format = malloc(size + 1), *command = NULL;
    memcpy(format, data, size);
    format[size] = 0;
    int only = 1;
    for (char *at = format; (at = strchr(at, '%')); at += 2)
      if (!strchr("sb%", at[1])) only = 0;
      else if (at[1] == 0) break;
    if (only && !strstr(format, "%b")) redisFormatCommand(&command, format, "abc", "d", "", "xyz", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t");
    free(command);
    int many = 0;
    sds *parts = sdssplitargs(format, &many);
    if (parts) sdsfreesplitres(parts, many);
    parts = sdssplitlen(format, (int)size, " ", 1, &many);
    if (parts) sdsfreesplitres(parts, many);
    free(format);
    return 0;
  }
  redisReader *reader = redisReaderCreate();
  size_t step = data[0] % 32 + 1;
  for (size_t at = 1; at < size; at += step) {
    void *reply = NULL;
    if (redisReaderFeed(reader, (const char *)data + at, size - at < step ? size - at : step) != REDIS_OK) break;
    if (redisReaderGetReply(reader, &reply) != REDIS_OK) break;
    if (reply) freeReplyObject(reply);
  }
  redisReaderFree(reader);
  return 0;
}
