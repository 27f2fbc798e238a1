/* parse one document in pieces and write it again */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

static int null(void *g) { return yajl_gen_null(g) == 0; }
static int boolean(void *g, int b) { return yajl_gen_bool(g, b) == 0; }
static int number(void *g, const char *s, unsigned int n) { return yajl_gen_number(g, s, n) == 0; }
static int string(void *g, const unsigned char *s, unsigned int n) { return yajl_gen_string(g, s, n) == 0; }
static int open_map(void *g) { return yajl_gen_map_open(g) == 0; }
static int close_map(void *g) { return yajl_gen_map_close(g) == 0; }
static int open_array(void *g) { return yajl_gen_array_open(g) == 0; }
static int close_array(void *g) { return yajl_gen_array_close(g) == 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  yajl_callbacks callbacks = {null, boolean, NULL, NULL, number, string, open_map, string, close_map, open_array, close_array};
  yajl_callbacks numbers = callbacks;
  yajl_gen_config pretty = {data[0] & 1, "  "};
  yajl_parser_config config = {data[0] >> 1 & 1, data[0] >> 2 & 1};
  yajl_gen gen = yajl_gen_alloc(&pretty, NULL);
  yajl_handle handle = yajl_alloc(&numbers, &config, NULL, gen);
  size_t step = data[1] % 64 + 1;
  yajl_status status = yajl_status_ok;
  for (size_t at = 2; at < size; at += step) {
    unsigned int n = (unsigned int)(size - at < step ? size - at : step);
    status = yajl_parse(handle, data + at, n);
    if (status != yajl_status_ok && status != yajl_status_insufficient_data) {
      yajl_free_error(handle, yajl_get_error(handle, 1, data + at, n));
      break;
    }
  }
  if (status == yajl_status_ok || status == yajl_status_insufficient_data) yajl_parse_complete(handle);
  const unsigned char *out;
  unsigned int many;
  yajl_gen_get_buf(gen, &out, &many);
  yajl_gen_free(gen);
  yajl_free(handle);
  return 0;
}
