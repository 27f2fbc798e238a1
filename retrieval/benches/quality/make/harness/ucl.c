/* parse a configuration, emit it in every form, and use it as a schema for itself */
#include <stdint.h>
#include <stdlib.h>
#include "ucl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  struct ucl_parser *parser = ucl_parser_new(data[0] & 7);
  ucl_parser_register_variable(parser, "ABI", "unknown");
  if (ucl_parser_add_chunk(parser, data + 1, size - 1)) {
    ucl_object_t *top = ucl_parser_get_object(parser);
    if (top) {
      for (int form = UCL_EMIT_JSON; form <= UCL_EMIT_YAML; form++) free(ucl_object_emit(top, form));
      const ucl_object_t *schema = ucl_object_lookup(top, "schema");
      struct ucl_schema_error error;
      if (schema) ucl_object_validate(schema, top, &error);
      ucl_object_lookup_path(top, "a.b.0");
      ucl_object_unref(ucl_object_copy(top));
      ucl_object_unref(top);
    }
  }
  ucl_parser_get_error(parser);
  ucl_parser_free(parser);
  return 0;
}
