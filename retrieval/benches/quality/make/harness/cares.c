/* the first byte chooses the parser, the rest is one DNS reply in a buffer of its size */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <netdb.h>
#include "ares.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  int n = (int)size - 1, kind = data[0] % 9;
  unsigned char *b = malloc(n ? n : 1);
  memcpy(b, data + 1, n);
  struct hostent *host = NULL; void *reply = NULL; char *name = NULL; long used = 0;
  struct ares_addrttl a4[4]; struct ares_addr6ttl a6[4]; int count = 4; unsigned char ip[4] = {1, 2, 3, 4};
  switch (kind) {
    case 0: if (!ares_parse_a_reply(b, n, &host, a4, &count)) ares_free_hostent(host); break;
    case 1: if (!ares_parse_aaaa_reply(b, n, &host, a6, &count)) ares_free_hostent(host); break;
    case 2: if (!ares_parse_mx_reply(b, n, (struct ares_mx_reply **)&reply)) ares_free_data(reply); break;
    case 3: if (!ares_parse_srv_reply(b, n, (struct ares_srv_reply **)&reply)) ares_free_data(reply); break;
    case 4: if (!ares_parse_txt_reply(b, n, (struct ares_txt_reply **)&reply)) ares_free_data(reply); break;
    case 5: if (!ares_parse_soa_reply(b, n, (struct ares_soa_reply **)&reply)) ares_free_data(reply); break;
    case 6: if (!ares_parse_naptr_reply(b, n, (struct ares_naptr_reply **)&reply)) ares_free_data(reply); break;
    case 7: if (!ares_parse_ptr_reply(b, n, ip, 4, AF_INET, &host)) ares_free_hostent(host); break;
    case 8: if (!ares_parse_ns_reply(b, n, &host)) ares_free_hostent(host); break;
  }
  if (n > 12 && !ares_expand_name(b + 12, b, n, &name, &used)) ares_free_string(name);
  free(b);
  return 0;
}
