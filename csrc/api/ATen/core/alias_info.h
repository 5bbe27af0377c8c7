#pragma once

#include <aten/core/alias_info.h>
