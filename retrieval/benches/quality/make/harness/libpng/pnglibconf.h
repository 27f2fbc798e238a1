#include "scripts/pnglibconf.h.prebuilt"
