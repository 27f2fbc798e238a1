/* a certificate, a list of revoked ones, a request, and a key */
#include <stdint.h>
#include "mbedtls/x509_crt.h"
#include "mbedtls/x509_crl.h"
#include "mbedtls/x509_csr.h"
#include "mbedtls/pk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mbedtls_x509_crt certificate; mbedtls_x509_crl list; mbedtls_x509_csr request; mbedtls_pk_context key;
  char text[4096];
  mbedtls_x509_crt_init(&certificate);
  if (mbedtls_x509_crt_parse(&certificate, data, size) == 0) mbedtls_x509_crt_info(text, sizeof text, " ", &certificate);
  mbedtls_x509_crt_free(&certificate);
  mbedtls_x509_crl_init(&list);
  if (mbedtls_x509_crl_parse(&list, data, size) == 0) mbedtls_x509_crl_info(text, sizeof text, " ", &list);
  mbedtls_x509_crl_free(&list);
  mbedtls_x509_csr_init(&request);
  if (mbedtls_x509_csr_parse(&request, data, size) == 0) mbedtls_x509_csr_info(text, sizeof text, " ", &request);
  mbedtls_x509_csr_free(&request);
  mbedtls_pk_init(&key);
  mbedtls_pk_parse_key(&key, data, size, NULL, 0);
  mbedtls_pk_free(&key);
  return 0;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
