#pragma once

#include <aten/core/function_schema.h>
