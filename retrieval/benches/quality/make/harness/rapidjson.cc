/* a pointer, a NUL, and a document: parse, find, schema, write */
#include <cstdint>
#include <cstring>
#include <string>
#include "rapidjson/document.h"
#include "rapidjson/pointer.h"
#include "rapidjson/prettywriter.h"
#include "rapidjson/schema.h"
#include "rapidjson/stringbuffer.h"

using namespace rapidjson;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 500) return 0;
  const uint8_t *end = (const uint8_t *)memchr(data + 1, 0, size - 1);
  std::string path((const char *)data + 1, end ? end - data - 1 : size - 1), text(end ? (const char *)end + 1 : "", end ? data + size - end - 1 : 0);
  Document document;
  if (data[0] & 1) document.Parse<kParseFullPrecisionFlag | kParseCommentsFlag | kParseTrailingCommasFlag | kParseNanAndInfFlag>(text.c_str());
  else document.Parse<kParseIterativeFlag | kParseNumbersAsStringsFlag | kParseEscapedApostropheFlag>(text.c_str(), text.size());
  if (document.HasParseError()) return 0;
  Pointer pointer(path.c_str(), path.size());
  if (pointer.IsValid()) {
    if (Value *value = pointer.Get(document)) {
      Value copy(*value, document.GetAllocator());
      Pointer("/new/0").Set(document, copy);
    }
    if (pointer.GetTokenCount() < 6 && path.find_first_of("3456789") == std::string::npos) pointer.Create(document);
    pointer.Erase(document);
    StringBuffer fragment;
    pointer.StringifyUriFragment(fragment);
  }
  StringBuffer buffer;
  PrettyWriter<StringBuffer> writer(buffer);
  document.Accept(writer);
  if (document.IsObject() && document.HasMember("schema")) {
    SchemaDocument schema(document["schema"]);
    SchemaValidator validator(schema);
    document.Accept(validator);
    StringBuffer where;
    validator.GetInvalidDocumentPointer().Stringify(where);
  }
  return 0;
}
