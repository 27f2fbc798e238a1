/* an XPath expression, a NUL, and a document it is asked of */
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include "pugixml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 400) return 0;
  const uint8_t *end = (const uint8_t *)memchr(data + 1, 0, size - 1);
  std::string expression((const char *)data + 1, end ? end - data - 1 : size - 1), text(end ? (const char *)end + 1 : "", end ? data + size - end - 1 : 0);
  pugi::xml_document document;
  document.load_buffer(text.data(), text.size(), data[0] & 1 ? pugi::parse_full : pugi::parse_default);
  std::ostringstream out;
  document.save(out, " ", data[0] & 2 ? pugi::format_raw : pugi::format_indent_attributes, data[0] & 4 ? pugi::encoding_utf16 : pugi::encoding_auto);
  try {
    pugi::xpath_query query(expression.c_str());
    query.evaluate_string(document);
    if (query.return_type() == pugi::xpath_type_node_set) {
      pugi::xpath_node_set found = query.evaluate_node_set(document);
      found.sort();
      for (const auto &one : found) one.node().path();
      if (!found.empty() && found.first().node()) {
        pugi::xml_node node = found.first().node();
        node.parent().append_copy(node);
        node.append_attribute("new") = "x";
        node.parent().remove_child(node);
      }
    } else {
      query.evaluate_number(document);
    }
  } catch (const pugi::xpath_exception &) {
  }
  pugi::xml_document copy;
  copy.reset(document);
  return 0;
}
