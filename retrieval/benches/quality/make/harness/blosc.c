/* an even first byte: compress and decompress again; an odd one: decompress, after asking what is inside */
#include <stdint.h>
#include <stdlib.h>
#include "blosc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 20) return 0;
  size_t plain, packed, block, type;
  if (data[0] & 1) {
    if (blosc_cbuffer_validate(data + 1, size - 1, &plain) < 0 || plain > 100000) return 0;
    int flags;
    blosc_cbuffer_metainfo(data + 1, &type, &flags);
    blosc_cbuffer_complib(data + 1);
    uint8_t *out = malloc(plain + 1);
    blosc_decompress_ctx(data + 1, out, plain, 1);
    if (plain > 8) blosc_getitem(data + 1, 1, 2, out);
    free(out);
    return 0;
  }
  uint8_t *out = malloc(size + BLOSC_MAX_OVERHEAD), *again = malloc(size);
  int many = blosc_compress_ctx(data[0] >> 1 & 7 ? 9 : 1, data[0] >> 4 & 3, data[1] % 20 + 1, size, data, out, size + BLOSC_MAX_OVERHEAD, "blosclz", data[2] % 4 * 32, 1);
  if (many > 0) blosc_decompress_ctx(out, again, size, 1);
  free(out);
  free(again);
  return 0;
}
