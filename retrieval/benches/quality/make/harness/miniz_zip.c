/* read an archive, or a compressed stream; the first byte chooses */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "miniz.c"

static void archive(const uint8_t *data, size_t size) {
  mz_zip_archive zip;
  memset(&zip, 0, sizeof zip);
  if (!mz_zip_reader_init_mem(&zip, data, size, 0)) return;
  for (mz_uint i = 0; i < mz_zip_reader_get_num_files(&zip) && i < 8; i++) {
    mz_zip_archive_file_stat stat;
    if (!mz_zip_reader_file_stat(&zip, i, &stat)) continue;
    mz_zip_reader_locate_file(&zip, stat.m_filename, stat.m_comment, 0);
    if (stat.m_uncomp_size < 100000) {
      size_t many;
      free(mz_zip_reader_extract_to_heap(&zip, i, &many, 0));
      uint8_t *out = malloc(stat.m_uncomp_size + 1);
      mz_zip_reader_extract_to_mem(&zip, i, out, stat.m_uncomp_size, MZ_ZIP_FLAG_COMPRESSED_DATA & -(i & 1));
      free(out);
    }
  }
  mz_zip_reader_end(&zip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[0] == 'P') return archive(data, size), 0;
  size_t many = 0;
  free(tinfl_decompress_mem_to_heap(data + 1, size - 1, &many, data[0] & 1 ? TINFL_FLAG_PARSE_ZLIB_HEADER : 0));
  uint8_t out[300];
  mz_ulong length = sizeof out;
  mz_uncompress(out, &length, data + 1, size - 1);
  tinfl_decompress_mem_to_mem(out, sizeof out, data + 1, size - 1, data[0] & 1);
  mz_ulong bound = mz_compressBound(size);
  uint8_t *packed = malloc(bound);
  if (mz_compress2(packed, &bound, data, size, data[0] % 11) == MZ_OK) {
    uint8_t *again = malloc(size);
    length = size;
    mz_uncompress(again, &length, packed, bound);
    free(again);
  }
  free(packed);
  return 0;
}
