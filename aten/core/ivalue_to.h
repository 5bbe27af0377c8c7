#pragma once

// IValueTo<T>, the conversions behind IValue::to<T>().
#include <aten/core/ivalue.h>
