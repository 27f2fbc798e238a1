#include <yajl_common.h>
