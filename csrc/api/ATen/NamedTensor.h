#pragma once

#include <aten/NamedTensorUtils.h>
