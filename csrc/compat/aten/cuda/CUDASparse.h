// What cuSPARSE offers. A program that calls its functions links to it.
#pragma once

#include <cusparse.h>

#define AT_USE_CUSPARSE_GENERIC_API() 1
#define AT_USE_CUSPARSE_GENERIC_SPSV() 1
#define AT_USE_CUSPARSE_GENERIC_SPSM() 1
