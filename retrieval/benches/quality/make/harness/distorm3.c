/* the first byte: the mode and the features; the rest is code */
#include <stdint.h>
#include <stdlib.h>
#include "distorm.h"
#include "mnemonics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  _DInst *found = malloc(40 * sizeof *found);
  _DecodedInst *words = malloc(40 * sizeof *words);
  _CodeInfo ci = {0};
  unsigned many = 0;
  ci.code = data + 1;
  ci.codeLen = (int)size - 1;
  ci.codeOffset = 0x1000;
  ci.dt = (_DecodeType)(data[0] % 3);
  ci.features = (data[0] >> 2 & 15) | (data[0] & 0x40 ? DF_STOP_ON_FLOW_CONTROL : 0) | (data[0] & 0x80 ? DF_RETURN_FC_ONLY : 0);
  distorm_decompose(&ci, found, 40, &many);
  for (unsigned i = 0; i < many; i++) distorm_format(&ci, found + i, words + i);
  distorm_decode(0x1000, data + 1, (int)size - 1, ci.dt, words, 40, &many);
  free(found);
  free(words);
  return 0;
}
