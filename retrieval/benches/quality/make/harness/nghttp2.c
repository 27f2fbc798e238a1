/* the frames of a server's session */
#include <stdint.h>
#include <stdlib.h>
#include <nghttp2/nghttp2.h>

static ssize_t drop(nghttp2_session *session, const uint8_t *data, size_t length, int flags, void *user) {
  (void)session; (void)data; (void)flags; (void)user;
  return (ssize_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nghttp2_session_callbacks *callbacks;
  nghttp2_session *session;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_send_callback(callbacks, drop);
  nghttp2_option *option;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_recv_client_magic(option, 1);
  nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_ALTSVC);
  nghttp2_session_server_new2(&session, callbacks, NULL, option);
  nghttp2_submit_settings(session, 0, NULL, 0);
  nghttp2_session_mem_recv(session, data, size);
  nghttp2_session_send(session);
  nghttp2_session_del(session);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
