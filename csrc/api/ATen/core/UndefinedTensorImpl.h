#pragma once

#include <c10/core/UndefinedTensorImpl.h>
