// Every type that an operator's C++ signature may name.
#pragma once

#include <aten/core/Dimname.h>
#include <aten/core/Generator.h>
#include <aten/core/List.h>
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>
