/* the first byte: what the rest is (0 .xz, 1 .lzma, 2 text to pack and unpack, 3 an index, 4 a filter chain in words of bytes) */
#include <stdint.h>
#include <stdlib.h>
#include "lzma.h"

static void unpack(lzma_stream *s, const uint8_t *data, size_t size) {
  uint8_t out[997];
  s->next_in = data;
  s->avail_in = size;
  for (int i = 0; i < 200; i++) {
    s->next_out = out;
    s->avail_out = sizeof out;
    lzma_ret r = lzma_code(s, LZMA_FINISH);
    if (r != LZMA_OK && r < LZMA_MEM_ERROR && r != LZMA_STREAM_END) continue;
    if (r != LZMA_OK) break;
  }
  lzma_end(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  lzma_stream s = LZMA_STREAM_INIT;
  uint8_t kind = data[0] % 5, mark = data[1];
  data += 2, size -= 2;
  if (kind == 0) {
    if (lzma_stream_decoder(&s, 10 << 20, mark & 15) == LZMA_OK) unpack(&s, data, size);
  } else if (kind == 1) {
    if ((mark & 1 ? lzma_auto_decoder(&s, 10 << 20, 0) : lzma_alone_decoder(&s, 10 << 20)) == LZMA_OK) unpack(&s, data, size);
  } else if (kind == 2) {
    lzma_options_lzma o;
    lzma_lzma_preset(&o, mark & 7);
    o.dict_size = 4096;
    o.mf = (lzma_match_finder[]){LZMA_MF_HC3, LZMA_MF_HC4, LZMA_MF_BT2, LZMA_MF_BT3, LZMA_MF_BT4}[(mark >> 3) % 5];
    lzma_options_delta d = {.type = LZMA_DELTA_TYPE_BYTE, .dist = 1 + data[0] % 9};
    lzma_filter f[] = {{data[1] & 1 ? LZMA_FILTER_DELTA : LZMA_FILTER_X86, data[1] & 1 ? &d : NULL}, {LZMA_FILTER_LZMA2, &o}, {LZMA_VLI_UNKNOWN, NULL}};
    size_t room = size + 4096, at = 0, in = 0, plain = 0;
    uint64_t limit = 10 << 20;
    uint8_t *out = malloc(room), *again = malloc(size);
    if (lzma_stream_buffer_encode(data[1] & 2 ? f : f + 1, LZMA_CHECK_CRC64, NULL, data, size, out, &at, room) == LZMA_OK)
      lzma_stream_buffer_decode(&limit, 0, NULL, out, &in, at, again, &plain, size);
    free(out);
    free(again);
  } else if (kind == 3) {
    lzma_index *index = NULL, *other = NULL;
    uint64_t limit = 1 << 20;
    size_t at = 0;
    if (lzma_index_buffer_decode(&index, &limit, NULL, data, &at, size) == LZMA_OK) {
      lzma_index_iter iter;
      lzma_index_iter_init(&iter, index);
      lzma_index_iter_locate(&iter, mark * 20);
      lzma_index_iter_next(&iter, LZMA_INDEX_ITER_ANY);
      other = lzma_index_dup(index, NULL);
      if (other && lzma_index_cat(index, other, NULL) != LZMA_OK) lzma_index_end(other, NULL);
      size_t room = lzma_index_size(index), put = 0;
      if (room < 100000) {
        uint8_t *out = malloc(room);
        lzma_index_buffer_encode(index, out, &put, room);
        free(out);
      }
      lzma_index_end(index, NULL);
    }
  } else {
    lzma_block block = {.check = mark & 15};
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    block.filters = filters;
    block.header_size = lzma_block_header_size_decode(data[0]);
    if (data[0] && block.header_size <= size && lzma_block_header_decode(&block, NULL, data) == LZMA_OK) {
      uint8_t out[300];
      size_t in = block.header_size, put = 0;
      lzma_raw_decoder_memusage(filters);
      lzma_block_buffer_decode(&block, NULL, data, &in, size, out, &put, sizeof out);
      for (int i = 0; filters[i].id != LZMA_VLI_UNKNOWN; i++) free(filters[i].options);
    }
  }
  return 0;
}
