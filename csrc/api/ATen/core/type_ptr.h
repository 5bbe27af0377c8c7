#pragma once

#include <aten/core/type_ptr.h>
