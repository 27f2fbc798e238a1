/* the first byte: 0 a frame to unpack at once, 1 in pieces, 2 with a dictionary, 3 text to pack and unpack; the second one chooses how */
#define ZSTD_STATIC_LINKING_ONLY
#include <stdint.h>
#include <stdlib.h>
#include "zstd.h"

static const char WORDS[] = "the quick brown fox jumps over the lazy dog and the little rabbit";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  int kind = data[0] & 3, how = data[1];
  data += 2, size -= 2;
  ZSTD_DCtx *d = ZSTD_createDCtx();
  if (kind == 0) {
    unsigned long long room = ZSTD_getFrameContentSize(data, size);
    if (room > 20000) room = how * 20;
    uint8_t *out = malloc(room + 1);
    ZSTD_FrameHeader head;
    ZSTD_getFrameHeader(&head, data, size);
    ZSTD_findFrameCompressedSize(data, size);
    ZSTD_decompressBound(data, size);
    ZSTD_decompressDCtx(d, out, room, data, size);
    free(out);
  } else if (kind == 1) {
    uint8_t out[300];
    ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 20);
    ZSTD_inBuffer in = {data, 0, 0};
    for (int i = 0; i < 500 && in.pos < size; i++) {
      in.size = in.size + 1 + (how & 31) < size ? in.size + 1 + (how & 31) : size;
      ZSTD_outBuffer o = {out, 1 + (how >> 5) * 40, 0};
      if (ZSTD_isError(ZSTD_decompressStream(d, &o, &in))) break;
    }
  } else if (kind == 2) {
    size_t split = how < size ? how : size / 2;
    uint8_t *out = malloc(4000);
    ZSTD_decompress_usingDict(d, out, 4000, data + split, size - split, how ? data : (const void *)WORDS, how ? split : sizeof WORDS);
    free(out);
  } else {
    size_t room = ZSTD_compressBound(size);
    uint8_t *out = malloc(room), *again = malloc(size);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_strategy, 1 + how % 9);
    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 10 + how % 3);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, how >> 4 & 1);
    ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, how >> 5 & 1);
    ZSTD_CCtx_setParameter(c, ZSTD_c_targetCBlockSize, how >> 6 & 1 ? 1340 : 0);
    if (how >> 7) ZSTD_CCtx_loadDictionary(c, WORDS, sizeof WORDS);
    size_t many = ZSTD_compress2(c, out, room, data, size);
    if (!ZSTD_isError(many)) {
      if (how >> 7) ZSTD_DCtx_loadDictionary(d, WORDS, sizeof WORDS);
      ZSTD_decompressDCtx(d, again, size, out, many);
    }
    ZSTD_freeCCtx(c);
    free(out);
    free(again);
  }
  ZSTD_freeDCtx(d);
  return 0;
}
