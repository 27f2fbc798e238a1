/* a client's session (odd first byte: a server's) receives bytes, and a header block is inflated */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "nghttp2/nghttp2.h"

static nghttp2_ssize sends(nghttp2_session *s, const uint8_t *data, size_t size, int flags, void *user) { return (nghttp2_ssize)size; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  nghttp2_session_callbacks *callbacks;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_send_callback2(callbacks, sends);
  nghttp2_option *option;
  nghttp2_option_new(&option);
  nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_ALTSVC);
  nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_ORIGIN);
  nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_PRIORITY_UPDATE);
  nghttp2_option_set_no_recv_client_magic(option, 1);
  nghttp2_session *session;
  if (data[0] & 1) {
    nghttp2_session_server_new2(&session, callbacks, NULL, option);
  } else {
    nghttp2_session_client_new2(&session, callbacks, NULL, option);
    nghttp2_nv headers[] = {{(uint8_t *)":method", (uint8_t *)"GET", 7, 3, 0}, {(uint8_t *)":path", (uint8_t *)"/", 5, 1, 0}, {(uint8_t *)":scheme", (uint8_t *)"http", 7, 4, 0}, {(uint8_t *)":authority", (uint8_t *)"a", 10, 1, 0}};
    nghttp2_submit_request2(session, NULL, headers, 4, NULL, NULL);
  }
  nghttp2_settings_entry entry = {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1};
  nghttp2_submit_settings(session, 0, &entry, 1);
  size_t step = data[1] % 60 + 1;
  for (size_t at = 2; at < size; at += step) {
    if (nghttp2_session_mem_recv2(session, data + at, size - at < step ? size - at : step) < 0) break;
    if (nghttp2_session_send(session) != 0) break;
  }
  nghttp2_session_terminate_session(session, 0);
  nghttp2_session_send(session);
  nghttp2_session_del(session);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_hd_inflater *inflater;
  nghttp2_hd_inflate_new(&inflater);
  size_t at = 2;
  for (int i = 0; i < 50 && at < size; i++) {
    nghttp2_nv header;
    int flags = 0;
    nghttp2_ssize used = nghttp2_hd_inflate_hd3(inflater, &header, &flags, data + at, size - at, 1);
    if (used < 0 || flags & NGHTTP2_HD_INFLATE_FINAL) break;
    at += used;
  }
  nghttp2_hd_inflate_del(inflater);
  return 0;
}
