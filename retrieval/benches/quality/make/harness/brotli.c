/* decode a stream in pieces, or (first byte even) encode and decode again */
#include <stdint.h>
#include <stdlib.h>
#include <brotli/decode.h>
#include <brotli/encode.h>

static void decode(const uint8_t *data, size_t size, size_t step) {
  BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
  uint8_t *out = malloc(300);
  size_t at = 0, produced = 0;
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
  while (at < size && produced < 100000) {
    size_t have = size - at < step ? size - at : step, room = 300;
    const uint8_t *next = data + at;
    uint8_t *to = out;
    size_t before = have;
    result = BrotliDecoderDecompressStream(state, &have, &next, &room, &to, NULL);
    at += before - have;
    produced += 300 - room;
    if (result == BROTLI_DECODER_RESULT_ERROR || result == BROTLI_DECODER_RESULT_SUCCESS) break;
  }
  free(out);
  BrotliDecoderDestroyInstance(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  if (data[0] & 1) return decode(data + 2, size - 2, data[1] % 50 + 1), 0;
  size_t room = BrotliEncoderMaxCompressedSize(size) + 64;
  uint8_t *out = malloc(room);
  if (BrotliEncoderCompress(data[0] >> 1 & 11, data[1] % 15 + 10, data[0] >> 5 & 1, size - 2, data + 2, &room, out)) decode(out, room, 33);
  free(out);
  return 0;
}
