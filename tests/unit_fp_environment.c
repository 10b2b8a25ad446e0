/* The promises of api_environment.c hold in a program that has the library inside as well. */
#include "api_environment.c"
