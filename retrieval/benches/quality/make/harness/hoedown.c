/* markdown to HTML, with every extension */
#include <stdint.h>
#include <stddef.h>
#include "document.h"
#include "html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hoedown_renderer *renderer = hoedown_html_renderer_new(HOEDOWN_HTML_HARD_WRAP, 3);
  hoedown_document *document = hoedown_document_new(renderer, HOEDOWN_EXT_BLOCK | HOEDOWN_EXT_SPAN | HOEDOWN_EXT_MATH_EXPLICIT, 16);
  hoedown_buffer *out = hoedown_buffer_new(64);
  hoedown_document_render(document, out, data, size);
  hoedown_buffer_free(out);
  hoedown_document_free(document);
  hoedown_html_renderer_free(renderer);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
