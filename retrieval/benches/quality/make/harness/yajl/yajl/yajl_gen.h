#include <yajl_gen.h>
