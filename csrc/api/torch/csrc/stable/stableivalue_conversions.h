#pragma once
#include <csrc/stable/stable_value.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

// Older extensions convert without naming the namespace.
using torch::stable::detail::from;
using torch::stable::detail::to;
