/* one picture is decoded, and its coefficients or its rows are written again; the first byte chooses how */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include "jpeglib.h"

static jmp_buf back;
static void stop(j_common_ptr c) {
  (void)c;
  longjmp(back, 1);
}
static void quiet(j_common_ptr c, int level) {
  (void)c;
  (void)level;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  static struct jpeg_decompress_struct in;
  static struct jpeg_compress_struct out;
  static struct jpeg_error_mgr errors;
  static unsigned char *packed;
  static unsigned long many;
  int how = data[0];
  packed = NULL;
  many = 0;
  in.err = out.err = jpeg_std_error(&errors);
  errors.error_exit = stop;
  errors.emit_message = quiet;
  jpeg_create_decompress(&in);
  jpeg_create_compress(&out);
  if (!setjmp(back)) {
    jpeg_mem_src(&in, data + 1, size - 1);
    jpeg_save_markers(&in, JPEG_COM, 100);
    jpeg_save_markers(&in, JPEG_APP0 + 2, 0xFFFF);
    jpeg_mem_dest(&out, &packed, &many);
    if (jpeg_read_header(&in, TRUE) == JPEG_HEADER_OK && (unsigned long)in.image_width * in.image_height < 20000) {
      if (how & 1) {
        jvirt_barray_ptr *all = jpeg_read_coefficients(&in);
        jpeg_copy_critical_parameters(&in, &out);
        if (how & 2) out.arith_code = TRUE;
        if (how & 4) jpeg_simple_progression(&out);
        jpeg_write_coefficients(&out, all);
        jpeg_finish_compress(&out);
      } else {
        in.scale_num = 1 + (how >> 1 & 7);
        in.dct_method = (J_DCT_METHOD)((how >> 4 & 3) % 3);
        in.quantize_colors = how >> 6 & 1;
        in.two_pass_quantize = how >> 4 & 1;
        in.desired_number_of_colors = 9;
        in.do_fancy_upsampling = how >> 7;
        jpeg_start_decompress(&in);
        JSAMPARRAY row = in.mem->alloc_sarray((j_common_ptr)&in, JPOOL_IMAGE, in.output_width * in.output_components, 1);
        out.image_width = in.output_width;
        out.image_height = in.output_height;
        out.input_components = in.quantize_colors ? 1 : in.out_color_components;
        out.in_color_space = in.quantize_colors ? JCS_GRAYSCALE : in.out_color_space;
        jpeg_set_defaults(&out);
        jpeg_set_quality(&out, how & 0x7F, TRUE);
        out.optimize_coding = how >> 1 & 1;
        out.smoothing_factor = how >> 2 & 15;
        out.restart_interval = how >> 3 & 3;
        jpeg_start_compress(&out, TRUE);
        while (in.output_scanline < in.output_height) {
          jpeg_read_scanlines(&in, row, 1);
          jpeg_write_scanlines(&out, row, 1);
        }
        jpeg_finish_compress(&out);
      }
      jpeg_finish_decompress(&in);
    }
  }
  jpeg_destroy_decompress(&in);
  jpeg_destroy_compress(&out);
  free(packed);
  return 0;
}
