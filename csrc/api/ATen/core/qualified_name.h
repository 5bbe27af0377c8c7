#pragma once

#include <aten/core/qualified_name.h>
