/* decode all frames of a stream, plainly and by the reader with seeking */
#define MINIMP3_IMPLEMENTATION
#define MINIMP3_NO_SIMD
#include <stdint.h>
#include <stdlib.h>
#include "minimp3_ex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mp3dec_t decoder;
  mp3dec_frame_info_t info;
  mp3dec_init(&decoder);
  mp3d_sample_t *pcm = malloc(sizeof(mp3d_sample_t) * MINIMP3_MAX_SAMPLES_PER_FRAME);
  size_t at = 0;
  for (int i = 0; i < 20 && at < size; i++) {
    mp3dec_decode_frame(&decoder, data + at, (int)(size - at), pcm, &info);
    if (info.frame_bytes <= 0) break;
    at += info.frame_bytes;
  }
  mp3dec_ex_t reader;
  if (mp3dec_ex_open_buf(&reader, data, size, MP3D_SEEK_TO_SAMPLE) == 0) {
    mp3dec_ex_read(&reader, pcm, 1000);
    mp3dec_ex_seek(&reader, size % 3000);
    mp3dec_ex_read(&reader, pcm, MINIMP3_MAX_SAMPLES_PER_FRAME);
    mp3dec_ex_close(&reader);
  }
  free(pcm);
  return 0;
}
