/* two numbers apart by a blank: every operation on them */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define DECNUMDIGITS 40
#include "decNumber.h"
#include "decPacked.h"
#include "decimal128.h"
#include "decimal32.h"
#include "decimal64.h"

typedef decNumber *(*binary)(decNumber *, const decNumber *, const decNumber *, decContext *);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const binary all[] = {decNumberAdd, decNumberSubtract, decNumberMultiply, decNumberDivide, decNumberDivideInteger, decNumberRemainder, decNumberRemainderNear, decNumberPower, decNumberQuantize,
                               decNumberRescale, decNumberCompare, decNumberCompareTotal, decNumberMax, decNumberMin, decNumberShift, decNumberRotate, decNumberAnd, decNumberOr, decNumberXor, decNumberScaleB, decNumberNextToward};
  if (size < 4 || size > 60) return 0;
  char *text = malloc(size + 1);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  char *second = strchr(text, ' ');
  if (second) *second++ = 0;
  decContext context;
  decContextDefault(&context, DEC_INIT_BASE);
  context.traps = 0;
  context.digits = data[0] % 40 + 1;
  context.emax = 999, context.emin = -999;
  context.round = data[0] % DEC_ROUND_MAX;
  context.clamp = data[0] >> 7;
  size_t units = sizeof(decNumber);
  decNumber *a = malloc(units), *b = malloc(units), *c = malloc(units);
  decNumberFromString(a, text, &context);
  decNumberFromString(b, second ? second : "2", &context);
  char out[DECNUMDIGITS + 14];
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    all[i](c, a, b, &context);
    decNumberToString(c, out);
  }
  decNumberSquareRoot(c, a, &context);
  decNumberExp(c, a, &context);
  decNumberLn(c, b, &context);
  decNumberLog10(c, b, &context);
  decNumberLogB(c, a, &context);
  decNumberInvert(c, a, &context);
  decNumberNextPlus(c, a, &context);
  decNumberNextMinus(c, b, &context);
  decNumberToIntegralValue(c, a, &context);
  decNumberReduce(c, a, &context);
  decNumberToInt32(a, &context);
  decNumberToEngString(a, out);
  decimal64 d64;
  decimal128 d128;
  decimal32 d32;
  decimal64ToNumber(decimal64FromNumber(&d64, a, &context), c);
  decimal128ToNumber(decimal128FromNumber(&d128, a, &context), c);
  decimal32ToNumber(decimal32FromNumber(&d32, b, &context), c);
  decimal64ToString(&d64, out);
  decimal128ToEngString(&d128, out);
  uint8_t *packed = malloc(21);
  int32_t scale;
  if (decPackedFromNumber(packed, 21, &scale, a)) decPackedToNumber(packed, 21, &scale, c);
  uint8_t bcd[DECNUMDIGITS];
  decNumberGetBCD(a, bcd);
  free(packed);
  free(a);
  free(b);
  free(c);
  free(text);
  return 0;
}
