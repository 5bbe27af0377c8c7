// The dtype switch for code that knows neither tensors nor selective builds; here it is the library's own.
#pragma once
#include <csrc/compat/aten/Dispatch.h>
#include <csrc/compat/headeronly/core/ScalarType.h>
#include <csrc/compat/headeronly/util/Exception.h>

// A case whose type has a name of its own.
#define THO_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, __VA_ARGS__)
#define THO_DISPATCH_CASE(enum_type, ...) AT_DISPATCH_CASE(enum_type, __VA_ARGS__)
#define THO_DISPATCH_SWITCH(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, __VA_ARGS__)
