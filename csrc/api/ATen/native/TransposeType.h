#pragma once

#include <aten/native/TransposeType.h>
