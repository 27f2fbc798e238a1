/* open a database and look some addresses up */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "maxminddb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/mmdb-%d", (int)getpid());
  FILE *file = fopen(path, "wb");
  fwrite(data, 1, size, file);
  fclose(file);
  MMDB_s db;
  int status = MMDB_open(path, MMDB_MODE_MMAP, &db);
  unlink(path);
  if (status != MMDB_SUCCESS) return 0;
  const char *addresses[] = {"1.1.1.1", "175.16.199.0", "::1.1.1.1", "2001:220::", "81.2.69.160"};
  FILE *null = fopen("/dev/null", "w");
  for (int i = 0; i < 5; i++) {
    int resolved, error;
    MMDB_lookup_result_s result = MMDB_lookup_string(&db, addresses[i], &resolved, &error);
    if (error != MMDB_SUCCESS || !result.found_entry) continue;
    MMDB_entry_data_s value;
    MMDB_get_value(&result.entry, &value, "location", "latitude", NULL);
    MMDB_get_value(&result.entry, &value, "map", "mapX", "arrayX", "1", NULL);
    MMDB_entry_data_list_s *list = NULL;
    if (MMDB_get_entry_data_list(&result.entry, &list) == MMDB_SUCCESS) MMDB_dump_entry_data_list(null, list, 2);
    MMDB_free_entry_data_list(list);
  }
  MMDB_search_node_s node;
  for (uint32_t i = 0; i < 20; i++) MMDB_read_node(&db, i, &node);
  fclose(null);
  MMDB_close(&db);
  return 0;
}
