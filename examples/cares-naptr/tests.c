/* Replies of several types: fields are decoded, truncated ones are refused. Prints the Test Anything Protocol. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ares.h"

static unsigned char message[512];
static int length;

static void bytes(const void *from, int count) {
  memcpy(message + length, from, count);
  length += count;
}
static void number(int value) {
  message[length++] = value >> 8;
  message[length++] = value;
}
static void begin(int type, int answers) {
  length = 0;
  number(1);
  number(0x8180);
  number(1);
  number(answers);
  number(0);
  number(0);
  bytes("\3www\2ex\0", 8);
  number(type);
  number(1);
}
static void record(int type, const void *data, int size) {
  number(0xc00c);
  number(type);
  number(1);
  number(0);
  number(60);
  number(size);
  bytes(data, size);
}
/* The reply in a block of exactly its size less CUT. */
static unsigned char *reply(int cut) {
  unsigned char *copy = malloc(length - cut);
  memcpy(copy, message, length - cut);
  return copy;
}

static const char full[] = "\0\12\0\24\1u\7E2U+sip\5!x!y!\3abc\2ex\0";
static const char smallest[] = "\1\2\3\4\0\0\0\0"; /* three empty strings and the root's name */

static void three_records(void) {
  begin(35, 3);
  record(35, full, sizeof full - 1);
  record(16, "\6hithere", 7);
  record(35, smallest, 8);
}
static int naptr_fields(void) {
  struct ares_naptr_reply *first = NULL;
  three_records();
  unsigned char *data = reply(0);
  int ok = ares_parse_naptr_reply(data, length, &first) == ARES_SUCCESS && first && first->order == 10 &&
           first->preference == 20 && !strcmp((char *)first->flags, "u") && !strcmp((char *)first->service, "E2U+sip") &&
           !strcmp((char *)first->regexp, "!x!y!") && !strcmp(first->replacement, "abc.ex");
  struct ares_naptr_reply *second = ok ? first->next : NULL;
  ok = ok && second && second->order == 0x102 && second->preference == 0x304 && !second->next && !*second->flags &&
       !*second->replacement;
  if (first) ares_free_data(first);
  free(data);
  return ok;
}
static int naptr_truncated(void) {
  struct ares_naptr_reply *first;
  int ok = 1;
  three_records();
  for (int cut = 1; cut <= 4; cut++) {
    unsigned char *data = reply(cut);
    ok = ok && ares_parse_naptr_reply(data, length - cut, &first) == ARES_EBADRESP;
    free(data);
  }
  return ok;
}
static int naptr_other_type(void) {
  struct ares_naptr_reply *first;
  begin(35, 1);
  record(16, "\6hithere", 7);
  unsigned char *data = reply(0);
  int ok = ares_parse_naptr_reply(data, length, &first) == ARES_SUCCESS && !first;
  free(data);
  return ok;
}
static int addresses(void) {
  struct hostent *host = NULL;
  struct ares_addrttl found[4];
  int count = 4;
  begin(1, 2);
  record(1, "\1\2\3\4", 4);
  record(1, "\5\6\7\10", 4);
  unsigned char *data = reply(0);
  int ok = ares_parse_a_reply(data, length, &host, found, &count) == ARES_SUCCESS && count == 2 &&
           !strcmp(host->h_name, "www.ex") && !memcmp(host->h_addr_list[1], "\5\6\7\10", 4);
  if (host) ares_free_hostent(host);
  free(data);
  return ok;
}
static int mail(void) {
  struct ares_mx_reply *first = NULL;
  begin(15, 1);
  record(15, "\0\7\2mx\xc0\x0c", 7);
  unsigned char *data = reply(0);
  int ok = ares_parse_mx_reply(data, length, &first) == ARES_SUCCESS && first->priority == 7 &&
           !strcmp(first->host, "mx.www.ex");
  if (first) ares_free_data(first);
  free(data);
  return ok;
}
static int text(void) {
  struct ares_txt_reply *first = NULL;
  begin(16, 1);
  record(16, "\2hi\3you", 7);
  unsigned char *data = reply(0);
  int ok = ares_parse_txt_reply(data, length, &first) == ARES_SUCCESS && first->length == 2 && first->next->length == 3;
  if (first) ares_free_data(first);
  free(data);
  return ok;
}

static const struct {
  const char *name;
  int (*run)(void);
} tests[] = {
    {"NAPTR fields", naptr_fields},
    {"truncated NAPTR replies are refused", naptr_truncated},
    {"another type in a NAPTR reply is skipped", naptr_other_type},
    {"A records", addresses},
    {"MX records", mail},
    {"TXT records", text},
};

int main(void) {
  int failed = 0, count = sizeof tests / sizeof *tests;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < count; i++) {
    int ok = tests[i].run();
    printf("%sok %d - %s\n", ok ? "" : "not ", i + 1, tests[i].name);
    failed |= !ok;
  }
  printf("1..%d\n", count);
  return failed;
}

const char *__asan_default_options(void) { return "detect_leaks=0"; }
