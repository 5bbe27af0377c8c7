// `at::native::NAME` for code written against libtorch's kernel functions: the same as `at::NAME`, through the dispatcher.
#pragma once

#include <aten/Functions.h>
#include <aten/native/TypeProperties.h>
#include <aten/native/resize.h>

namespace at::native {

using namespace at;
using at::result_type;

} // namespace at::native
