/* reads every tag of a colour profile, and makes a transform of it */
#include <stdint.h>
#include "lcms2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cmsHPROFILE profile = cmsOpenProfileFromMem(data, (cmsUInt32Number)size);
  if (!profile) return 0;
  int tags = cmsGetTagCount(profile);
  for (int i = 0; i < tags && i < 50; i++) cmsReadTag(profile, cmsGetTagSignature(profile, i));
  cmsHPROFILE rgb = cmsCreate_sRGBProfile();
  cmsUInt32Number format = cmsFormatterForColorspaceOfProfile(profile, 1, 0);
  cmsHTRANSFORM transform = cmsCreateTransform(profile, format, rgb, TYPE_RGB_8, 0, 0);
  if (transform) {
    uint8_t in[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, out[16];
    cmsDoTransform(transform, in, out, 1);
    cmsDeleteTransform(transform);
  }
  cmsCloseProfile(rgb);
  cmsCloseProfile(profile);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
