#pragma once
#include <csrc/compat/headeronly/core/DeviceType.h>
#include <csrc/compat/headeronly/core/Layout.h>
#include <csrc/compat/headeronly/core/MemoryFormat.h>
#include <csrc/compat/headeronly/core/ScalarType.h>
#include <csrc/compat/headeronly/core/enum_tag.h>
#include <csrc/compat/headeronly/util/HeaderOnlyArrayRef.h>
#include <csrc/stable/stable_value.h>

// Older extensions convert without naming the namespace.
using torch::stable::detail::from;
using torch::stable::detail::to;
