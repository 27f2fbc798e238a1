/* tidy one page; the first byte chooses options */
#include <stdint.h>
#include <stdlib.h>
#include "tidy.h"
#include "tidybuffio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  TidyDoc doc = tidyCreate();
  TidyBuffer in, out, errors;
  tidyBufInit(&in);
  tidyBufInit(&out);
  tidyBufInit(&errors);
  tidySetErrorBuffer(doc, &errors);
  tidyOptSetBool(doc, TidyXhtmlOut, data[0] & 1);
  tidyOptSetBool(doc, TidyXmlTags, (data[0] & 6) == 6);
  tidyOptSetBool(doc, TidyMakeClean, data[0] >> 3 & 1);
  tidyOptSetBool(doc, TidyWord2000, data[0] >> 4 & 1);
  tidyOptSetBool(doc, TidyForceOutput, yes);
  tidyOptSetInt(doc, TidyAccessibilityCheckLevel, data[0] >> 5 & 3);
  tidyBufAppend(&in, (void *)(data + 1), (uint)(size - 1));
  tidyParseBuffer(doc, &in);
  tidyCleanAndRepair(doc);
  tidyRunDiagnostics(doc);
  tidySaveBuffer(doc, &out);
  tidyBufFree(&in);
  tidyBufFree(&out);
  tidyBufFree(&errors);
  tidyRelease(doc);
  return 0;
}
