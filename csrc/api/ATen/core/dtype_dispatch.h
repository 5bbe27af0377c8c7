#pragma once

#include <aten/core/dtype_dispatch.h>
