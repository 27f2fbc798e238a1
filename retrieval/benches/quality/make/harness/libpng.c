/* read one image with every transformation that the first byte chooses, and by the simple interface */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "png.h"

struct bytes {
  const uint8_t *data;
  size_t left;
};

static void reads(png_structp png, png_bytep out, size_t n) {
  struct bytes *in = png_get_io_ptr(png);
  if (n > in->left) png_error(png, "end");
  memcpy(out, in->data, n);
  in->data += n;
  in->left -= n;
}

static void quiet(png_structp png, png_const_charp message) {}
static void fails(png_structp png, png_const_charp message) { longjmp(png_jmpbuf(png), 1); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 10) return 0;
  struct bytes in = {data + 1, size - 1};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fails, quiet);
  png_infop info = png_create_info_struct(png);
  png_bytep volatile row = NULL;
  if (!setjmp(png_jmpbuf(png))) {
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_read_fn(png, &in, reads);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, NULL, 0);
    png_read_info(png, info);
    png_uint_32 width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if (width <= 300 && height <= 300) {
      if (data[0] & 1) png_set_expand(png);
      if (data[0] & 2) png_set_strip_16(png);
      if (data[0] & 4) png_set_gray_to_rgb(png);
      if (data[0] & 8) png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
      if (data[0] & 16) png_set_gamma(png, 2.2, 0.45);
      if (data[0] & 32) png_set_bgr(png);
      if (data[0] & 64) png_set_packing(png);
      if (data[0] & 128) png_set_rgb_to_gray(png, 1, -1, -1);
      int passes = png_set_interlace_handling(png);
      png_read_update_info(png, info);
      row = malloc(png_get_rowbytes(png, info) + 1);
      for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++) png_read_row(png, row, NULL);
      png_read_end(png, info);
      png_textp text;
      png_get_text(png, info, &text, NULL);
    }
  }
  free(row);
  png_destroy_read_struct(&png, &info, NULL);
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, data + 1, size - 1) && image.width <= 300 && image.height <= 300) {
    image.format = data[0] & 1 ? PNG_FORMAT_RGBA_COLORMAP : PNG_FORMAT_RGBA;
    void *pixels = malloc(PNG_IMAGE_SIZE(image)), *map = malloc(PNG_IMAGE_COLORMAP_SIZE(image) + 1);
    png_color background = {1, 2, 3};
    png_image_finish_read(&image, &background, pixels, 0, map);
    free(pixels);
    free(map);
  }
  png_image_free(&image);
  return 0;
}
