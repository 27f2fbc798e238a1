/* the first byte chooses: a frame, a block, a block with a dictionary, or compressing */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define LZ4F_STATIC_LINKING_ONLY
#define LZ4_STATIC_LINKING_ONLY
#include "lz4.h"
#include "lz4frame.h"
#include "lz4hc.h"

static void frame(const uint8_t *data, size_t size, size_t step) {
  LZ4F_dctx *context;
  LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
  uint8_t *out = malloc(700);
  size_t at = 0;
  for (int i = 0; i < 200 && at < size; i++) {
    size_t have = size - at < step ? size - at : step, room = 700;
    size_t left = LZ4F_decompress(context, out, &room, data + at, &have, NULL);
    if (LZ4F_isError(left) || have + room == 0) break;
    at += have;
  }
  free(out);
  LZ4F_freeDecompressionContext(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  const char *in = (const char *)data + 2;
  int length = (int)size - 2, room = data[1] * 4;
  char *out = malloc(room + 1);
  if (data[0] % 4 == 0) frame(data + 2, size - 2, data[1] % 40 + 1);
  if (data[0] % 4 == 1) {
    LZ4_decompress_safe(in, out, length, room);
    LZ4_decompress_safe_partial(in, out, length, room / 2, room);
  }
  if (data[0] % 4 == 2) LZ4_decompress_safe_usingDict(in, out, length, room, in, length / 2);
  if (data[0] % 4 == 3) {
    LZ4_compress_default(in, out, length, room);
    LZ4_compress_HC(in, out, length, room, data[0] >> 3);
    LZ4F_preferences_t preferences = {{data[1] & 4 ? LZ4F_max64KB : LZ4F_max256KB, data[1] & 1, data[1] >> 1 & 1, 0, 0, 0, data[1] >> 3 & 1}, data[0] >> 3, 0, 0, {0}};
    size_t bound = LZ4F_compressFrameBound(length, &preferences);
    char *packed = malloc(bound);
    size_t many = LZ4F_compressFrame(packed, bound, in, length, &preferences);
    if (!LZ4F_isError(many)) frame((uint8_t *)packed, many, 17);
    free(packed);
  }
  free(out);
  return 0;
}
