/* render one markdown buffer with all the GFM extensions */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmark-gfm.h"
#include "cmark-gfm-extension_api.h"
#include "cmark-gfm-core-extensions.h"
#include "registry.h"
static char *html;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *ext[] = {"table", "strikethrough", "autolink", "tagfilter", "tasklist"};
  cmark_gfm_core_extensions_ensure_registered();
  cmark_parser *p = cmark_parser_new(CMARK_OPT_FOOTNOTES);
  for (int i = 0; i < 5; i++) cmark_parser_attach_syntax_extension(p, cmark_find_syntax_extension(ext[i]));
  cmark_parser_feed(p, (const char *)data, size);
  cmark_node *d = cmark_parser_finish(p);
  free(html); html = cmark_render_html(d, CMARK_OPT_FOOTNOTES, cmark_parser_get_syntax_extensions(p));
  cmark_node_free(d); cmark_parser_free(p);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }

