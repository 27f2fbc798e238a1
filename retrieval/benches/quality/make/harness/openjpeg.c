/* decode one image, a code stream or a JP2 file */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "openjpeg.h"

static const uint8_t *bytes;
static size_t many, at;

static OPJ_SIZE_T reads(void *buffer, OPJ_SIZE_T n, void *user) {
  if (at >= many) return (OPJ_SIZE_T)-1;
  if (n > many - at) n = many - at;
  memcpy(buffer, bytes + at, n);
  at += n;
  return n;
}

static OPJ_OFF_T skips(OPJ_OFF_T n, void *user) {
  if (n < 0 || (size_t)n > many - at) return -1;
  at += n;
  return n;
}

static OPJ_BOOL seeks(OPJ_OFF_T n, void *user) {
  if (n < 0 || (size_t)n > many) return OPJ_FALSE;
  at = n;
  return OPJ_TRUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 20) return 0;
  bytes = data, many = size, at = 0;
  opj_codec_t *codec = opj_create_decompress(data[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_setup_decoder(codec, &parameters);
  opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
  opj_stream_set_read_function(stream, reads);
  opj_stream_set_skip_function(stream, skips);
  opj_stream_set_seek_function(stream, seeks);
  opj_stream_set_user_data(stream, NULL, NULL);
  opj_stream_set_user_data_length(stream, size);
  opj_image_t *image = NULL;
  if (opj_read_header(stream, codec, &image) && image->x1 - image->x0 <= 4000 && image->y1 - image->y0 <= 4000 && (uint64_t)(image->x1 - image->x0) * (image->y1 - image->y0) * image->numcomps < 300000)
    opj_decode(codec, stream, image) && opj_end_decompress(codec, stream);
  opj_image_destroy(image);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  return 0;
}
