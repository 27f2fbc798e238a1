#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define TRE_WCHAR 1
#ifndef TRE_MULTIBYTE
#define TRE_MULTIBYTE 1
#endif
#ifndef TRE_APPROX
#define TRE_APPROX 1
#endif
#define TRE_VERSION "0.9.0"
#define TRE_VERSION_1 0
#define TRE_VERSION_2 9
#define TRE_VERSION_3 0
