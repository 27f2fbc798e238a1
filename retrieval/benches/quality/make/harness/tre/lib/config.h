#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define HAVE_WCTYPE_H 1
#define HAVE_ISWCTYPE 1
#define HAVE_WCTYPE 1
#define HAVE_ISWLOWER 1
#define HAVE_ISWUPPER 1
#define HAVE_TOWLOWER 1
#define HAVE_TOWUPPER 1
#define HAVE_MBRTOWC 1
#define HAVE_MBSTATE_T 1
#define HAVE_WCSRTOMBS 1
#define TRE_MULTIBYTE 1
#define TRE_APPROX 1
#define TRE_REGEX_T_FIELD value
#define NDEBUG 1
#define USE_LOCAL_TRE_H 1
#include "../local_includes/tre-config.h"
