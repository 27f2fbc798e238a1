/* the first byte chooses the window, the rest is inflated in small steps */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "zlib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  static const int windows[] = {15, 31, 47, -15, -8, 9, 0};
  z_stream s; memset(&s, 0, sizeof s);
  unsigned char out[64], extra[16], name[8]; gz_header head; memset(&head, 0, sizeof head);
  head.extra = extra; head.extra_max = sizeof extra; head.name = name; head.name_max = sizeof name;
  int kind = data[0] % 7, steps = 0, r = Z_OK;
  unsigned char *b = malloc(size - 1); memcpy(b, data + 1, size - 1);
  if (inflateInit2(&s, windows[kind]) == Z_OK) {
    if (kind == 1 || kind == 2) inflateGetHeader(&s, &head);
    s.next_in = b; s.avail_in = 0;
    while (steps++ < 2000 && (r == Z_OK || r == Z_BUF_ERROR)) {
      if (s.avail_in == 0) { size_t used = s.next_in - b, left = size - 1 - used; s.avail_in = left > 7 ? 7 : left; if (!left) break; }
      unsigned char *o = malloc(33); s.next_out = o; s.avail_out = 33; r = inflate(&s, Z_NO_FLUSH);
      if (steps == 3) inflateSync(&s);
      free(o);
    }
    inflateEnd(&s);
  }
  free(b);
  return 0;
}
