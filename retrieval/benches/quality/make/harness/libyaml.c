/* load every document of a text, then write it out again */
#include <stdint.h>
#include <stddef.h>
#include "yaml.h"

static int drop(void *data, unsigned char *buffer, size_t size) {
  (void)data; (void)buffer; (void)size;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  yaml_parser_t parser; yaml_emitter_t emitter; yaml_document_t document;
  if (!yaml_parser_initialize(&parser)) return 0;
  if (!yaml_emitter_initialize(&emitter)) { yaml_parser_delete(&parser); return 0; }
  yaml_parser_set_input_string(&parser, data, size);
  yaml_emitter_set_output(&emitter, drop, NULL);
  yaml_emitter_open(&emitter);
  for (;;) {
    if (!yaml_parser_load(&parser, &document)) break;
    if (!yaml_document_get_root_node(&document)) { yaml_document_delete(&document); break; }
    if (!yaml_emitter_dump(&emitter, &document)) break;
  }
  yaml_emitter_delete(&emitter);
  yaml_parser_delete(&parser);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
