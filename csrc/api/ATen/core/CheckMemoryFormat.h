#pragma once

#include <c10/core/impl/checked_memory_format.h>
