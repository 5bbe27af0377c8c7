#pragma once
#include <csrc/stable/ops.h>
#include <csrc/stable/version.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>
#include <torch/headeronly/util/Exception.h>
