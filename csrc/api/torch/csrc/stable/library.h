#pragma once
#include <csrc/stable/library.h>
#include <torch/csrc/stable/stableivalue_conversions.h>
#include <csrc/stable/version.h>
#include <torch/headeronly/core/enum_tag.h>
#include <torch/headeronly/util/Exception.h>
