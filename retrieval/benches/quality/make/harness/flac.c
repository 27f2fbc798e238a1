/* an odd first byte: decode a stream; an even one: encode samples, decode them again, and edit the metadata */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "FLAC/metadata.h"
#include "FLAC/stream_decoder.h"
#include "FLAC/stream_encoder.h"

struct bytes {
  uint8_t *data;
  size_t size, at;
};

static FLAC__StreamDecoderReadStatus reads(const FLAC__StreamDecoder *d, FLAC__byte buffer[], size_t *bytes, void *client) {
  struct bytes *in = client;
  size_t left = in->size - in->at;
  if (left == 0) return *bytes = 0, FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
  if (*bytes > left) *bytes = left;
  memcpy(buffer, in->data + in->at, *bytes);
  in->at += *bytes;
  return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

static FLAC__StreamDecoderWriteStatus takes(const FLAC__StreamDecoder *d, const FLAC__Frame *frame, const FLAC__int32 *const buffer[], void *client) {
  volatile FLAC__int32 sum = 0;
  for (unsigned c = 0; c < frame->header.channels; c++)
    for (unsigned i = 0; i < frame->header.blocksize; i++) sum += buffer[c][i];
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void sees(const FLAC__StreamDecoder *d, const FLAC__StreamMetadata *metadata, void *client) {
  FLAC__StreamMetadata *copy = FLAC__metadata_object_clone(metadata);
  if (!copy) return;
  if (copy->type == FLAC__METADATA_TYPE_VORBIS_COMMENT) {
    FLAC__metadata_object_vorbiscomment_remove_entries_matching(copy, "A");
    FLAC__metadata_object_vorbiscomment_resize_comments(copy, 2);
  }
  if (copy->type == FLAC__METADATA_TYPE_CUESHEET && copy->data.cue_sheet.num_tracks) FLAC__metadata_object_cuesheet_delete_track(copy, 0);
  if (copy->type == FLAC__METADATA_TYPE_SEEKTABLE) FLAC__metadata_object_seektable_template_sort(copy, 1);
  FLAC__metadata_object_is_equal(copy, metadata);
  FLAC__metadata_object_delete(copy);
}

static void fails(const FLAC__StreamDecoder *d, FLAC__StreamDecoderErrorStatus status, void *client) {}

static void decode(struct bytes in) {
  FLAC__StreamDecoder *d = FLAC__stream_decoder_new();
  FLAC__stream_decoder_set_metadata_respond_all(d);
  if (FLAC__stream_decoder_init_stream(d, reads, NULL, NULL, NULL, NULL, takes, sees, fails, &in) == FLAC__STREAM_DECODER_INIT_STATUS_OK) FLAC__stream_decoder_process_until_end_of_stream(d);
  FLAC__stream_decoder_delete(d);
}

static FLAC__StreamEncoderWriteStatus writes(const FLAC__StreamEncoder *e, const FLAC__byte buffer[], size_t bytes, uint32_t samples, uint32_t frame, void *client) {
  struct bytes *out = client;
  if (out->size + bytes > 1 << 18) return FLAC__STREAM_ENCODER_WRITE_STATUS_FATAL_ERROR;
  memcpy(out->data + out->size, buffer, bytes);
  out->size += bytes;
  return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8) return 0;
  if (data[0] & 1) {
    uint8_t *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    decode((struct bytes){copy, size - 1, 0});
    free(copy);
    return 0;
  }
  FLAC__StreamEncoder *e = FLAC__stream_encoder_new();
  unsigned channels = 1 + data[1] % 3, samples = (size - 8) / channels;
  FLAC__stream_encoder_set_channels(e, channels);
  FLAC__stream_encoder_set_bits_per_sample(e, data[2] % 28 + 4);
  FLAC__stream_encoder_set_compression_level(e, data[3] % 9);
  FLAC__stream_encoder_set_blocksize(e, data[4] % 64 + 16);
  FLAC__stream_encoder_set_max_lpc_order(e, data[5] % 14);
  FLAC__stream_encoder_set_streamable_subset(e, 0);
  FLAC__stream_encoder_set_loose_mid_side_stereo(e, data[6] & 1);
  FLAC__stream_encoder_set_verify(e, data[6] & 2);
  struct bytes out = {malloc(1 << 18), 0, 0};
  if (FLAC__stream_encoder_init_stream(e, writes, NULL, NULL, NULL, &out) == FLAC__STREAM_ENCODER_INIT_STATUS_OK) {
    FLAC__int32 *buffer = calloc(samples * channels + 1, 4);
    for (unsigned i = 0; i < samples * channels; i++) buffer[i] = (int8_t)data[8 + i] >> 4;
    FLAC__stream_encoder_process_interleaved(e, buffer, samples);
    FLAC__stream_encoder_finish(e);
    free(buffer);
  }
  FLAC__stream_encoder_delete(e);
  decode(out);
  free(out.data);
  return 0;
}
