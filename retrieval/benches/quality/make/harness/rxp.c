/* one document is read; the first two bytes choose the parser's flags */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "system.h"
#include "ctype16.h"
#include "charset.h"
#include "string16.h"
#include "dtd.h"
#include "input.h"
#include "xmlparser.h"
#include "stdio16.h"

static InputSource nothing(Entity e, void *arg) {
  (void)arg;
  return SourceFromFILE16("none", MakeFILE16FromString(strdup("<!ELEMENT o ANY>"), 16, "r"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  static int begun = 0;
  static char report[4096];
  if (!begun++) init_parser();
  static const ParserFlag kinds[] = {ExpandCharacterEntities, ExpandGeneralEntities, NormaliseAttributeValues, ErrorOnBadCharacterEntities, ErrorOnUndefinedEntities, ReturnComments, CaseInsensitive, ErrorOnUndefinedElements,
                                     Validate, ReturnDefaultedAttributes, MergePCData, TrustSDD, XMLNamespaces, SimpleErrorFormat, AllowMultipleElements, ReturnNamespaceAttributes};
  Parser p = NewParser();
  unsigned flags = data[0] | data[1] << 8;
  for (int i = 0; i < 16; i++) ParserSetFlag(p, kinds[i], flags >> i & 1);
  ParserSetFlag(p, ProcessDTD, 1);
  ParserSetEntityOpener(p, nothing);
  Stderr = MakeFILE16FromString(report, sizeof report - 1, "w");
  char *text = malloc(size);
  memcpy(text, data + 2, size - 2);
  FILE16 *file = MakeFILE16FromString(text, size - 2, "r");
  InputSource source = SourceFromFILE16("in", file);
  if (ParserPush(p, source) != -1) {
    for (int n = 0; n < 3000; n++) {
      XBit bit = ReadXBit(p);
      XBitType type = bit->type;
      FreeXBit(bit);
      if (type == XBIT_eof || type == XBIT_error) break;
    }
  }
  FreeDtd(p->dtd);
  FreeParser(p);
  free(text);
  return 0;
}
