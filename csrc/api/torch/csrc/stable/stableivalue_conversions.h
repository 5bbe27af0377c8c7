#pragma once
#include <csrc/stable/stable_value.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/Layout.h>
#include <torch/headeronly/core/MemoryFormat.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/core/enum_tag.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

// Older extensions convert without naming the namespace.
using torch::stable::detail::from;
using torch::stable::detail::to;
