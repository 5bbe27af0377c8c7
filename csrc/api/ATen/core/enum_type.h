#pragma once

#include <aten/core/enum_type.h>
