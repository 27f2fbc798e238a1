#define JQ_VERSION "1.6"
