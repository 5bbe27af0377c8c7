#pragma once
#include <csrc/compat/aten/Dispatch_v2.h>
#include <csrc/compat/headeronly/core/Dispatch.h>

#define THO_DISPATCH_V2(TYPE, NAME, BODY, ...) AT_DISPATCH_V2(TYPE, NAME, AT_WRAP(BODY), __VA_ARGS__)
