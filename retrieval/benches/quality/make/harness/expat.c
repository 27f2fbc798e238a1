/* one document, read in two pieces */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "expat.h"

static void start(void *user, const XML_Char *name, const XML_Char **attributes) { for (; *attributes; attributes++) *(size_t *)user += strlen(*attributes); }
static void end(void *user, const XML_Char *name) { *(size_t *)user += strlen(name); }
static void text(void *user, const XML_Char *s, int n) { volatile char c = 0; for (int i = 0; i < n; i++) c ^= s[i]; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t count = 0;
  XML_Parser p = size % 2 ? XML_ParserCreateNS(NULL, '|') : XML_ParserCreate(NULL);
  XML_SetUserData(p, &count);
  XML_SetElementHandler(p, start, end); XML_SetCharacterDataHandler(p, text);
  XML_SetParamEntityParsing(p, XML_PARAM_ENTITY_PARSING_ALWAYS);
  char *b = malloc(size ? size : 1); memcpy(b, data, size);
  if (XML_Parse(p, b, size / 2, 0) == XML_STATUS_OK) XML_Parse(p, b + size / 2, size - size / 2, 1);
  XML_ParserFree(p); free(b);
  return 0;
}
