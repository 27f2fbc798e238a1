/* load one image in every form; of an animated one all frames */
#include <stdint.h>
#include <stdlib.h>
typedef unsigned char stbi_uc;
stbi_uc *stbi_load_from_memory(stbi_uc const *buffer, int len, int *x, int *y, int *comp, int req_comp);
unsigned short *stbi_load_16_from_memory(stbi_uc const *buffer, int len, int *x, int *y, int *comp, int req_comp);
float *stbi_loadf_from_memory(stbi_uc const *buffer, int len, int *x, int *y, int *comp, int req_comp);
stbi_uc *stbi_load_gif_from_memory(stbi_uc const *buffer, int len, int **delays, int *x, int *y, int *z, int *comp, int req_comp);
int stbi_info_from_memory(stbi_uc const *buffer, int len, int *x, int *y, int *comp);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int x = 0, y = 0, z, comp, *delays = NULL;
  if (!stbi_info_from_memory(data, (int)size, &x, &y, &comp) || (int64_t)x * y > 60000) return 0;
  for (int channels = 0; channels < 5; channels++) free(stbi_load_from_memory(data, (int)size, &x, &y, &comp, channels));
  free(stbi_load_16_from_memory(data, (int)size, &x, &y, &comp, 0));
  free(stbi_loadf_from_memory(data, (int)size, &x, &y, &comp, 3));
  free(stbi_load_gif_from_memory(data, (int)size, &delays, &x, &y, &z, &comp, 4));
  free(delays);
  return 0;
}
