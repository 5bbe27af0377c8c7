#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/Formatting.h>
#include <ATen/core/Generator.h>
#include <aten/Utils.h>
