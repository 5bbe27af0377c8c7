#pragma once
#include <c10/util/Exception.h>

// The check of code that is compiled without the library's classes; here it is the library's own.
#define STD_TORCH_CHECK(cond, ...) TORCH_CHECK(cond, ##__VA_ARGS__)
