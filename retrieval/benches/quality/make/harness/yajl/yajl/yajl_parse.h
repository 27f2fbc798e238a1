#include <yajl_parse.h>
