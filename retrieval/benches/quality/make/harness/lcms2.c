/* the first byte: 0 a profile is read and used, 1 the same with the other one, 2 an IT8 table, 3 a cube or PostScript of a profile */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lcms2.h"

static void tables(const uint8_t *data, size_t size) {
  cmsHANDLE it8 = cmsIT8LoadFromMem(NULL, data, (cmsUInt32Number)size);
  if (!it8) return;
  char **names, out[2048];
  cmsUInt32Number need = 0, tables = cmsIT8TableCount(it8);
  for (cmsUInt32Number t = 0; t < tables && t < 4; t++) {
    cmsIT8SetTable(it8, t);
    cmsIT8EnumProperties(it8, &names);
    int many = cmsIT8EnumDataFormat(it8, &names);
    (void)many;
    cmsIT8GetProperty(it8, "DESCRIPTOR");
    cmsIT8GetDataRowCol(it8, 0, 1);
    cmsIT8GetDataDbl(it8, "A1", "RGB_R");
    cmsIT8GetPatchName(it8, 0, out);
    cmsIT8GetPatchByName(it8, "A2");
    cmsIT8SetDataDbl(it8, "A1", "RGB_G", 5);
  }
  cmsIT8SetTableByLabel(it8, "L", "F", "T");
  if (cmsIT8SaveToMem(it8, NULL, &need) && need < 100000) {
    char *mem = malloc(need);
    cmsIT8SaveToMem(it8, mem, &need);
    free(mem);
  }
  cmsIT8Free(it8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  uint8_t kind = data[0] & 3, mark = data[0] >> 2, *mem;
  data++, size--;
  if (kind == 2) return tables(data, size), 0;
  cmsHPROFILE given = cmsOpenProfileFromMem(data, (cmsUInt32Number)size), own = mark & 1 ? cmsCreateLab4Profile(NULL) : cmsCreate_sRGBProfile();
  if (given) {
    for (int i = 0; i < cmsGetTagCount(given) && i < 20; i++) cmsReadTag(given, cmsGetTagSignature(given, i));
    char text[40];
    cmsGetProfileInfoASCII(given, cmsInfoDescription, "en", "US", text, sizeof text);
    cmsDetectTAC(given);
    cmsUInt32Number need = 0;
    if (kind == 3) {
      if (cmsSaveProfileToMem(given, NULL, &need) && need < 200000 && (mem = malloc(need))) cmsSaveProfileToMem(given, mem, &need), free(mem);
      need = cmsGetPostScriptCSA(NULL, given, mark >> 1 & 3, 0, NULL, 0);
      if (need && need < 200000 && (mem = malloc(need))) cmsGetPostScriptCSA(NULL, given, mark >> 1 & 3, 0, mem, need), free(mem);
    } else {
      cmsUInt32Number from = cmsFormatterForColorspaceOfProfile(given, 1 + (mark >> 4 & 1), 0), to = cmsFormatterForColorspaceOfProfile(own, 2, 0);
      cmsHTRANSFORM t = kind ? cmsCreateTransform(own, to, given, from, mark >> 1 & 3, 0) : cmsCreateTransform(given, from, own, to, mark >> 1 & 3, mark & 8 ? cmsFLAGS_NOOPTIMIZE : 0);
      if (t) {
        uint8_t in[512] = {0}, out[512];
        for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 37);
        cmsDoTransform(t, in, out, 8);
        cmsDeleteTransform(t);
      }
    }
    cmsCloseProfile(given);
  }
  cmsCloseProfile(own);
  return 0;
}
