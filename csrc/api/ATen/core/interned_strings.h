#pragma once

#include <aten/core/interned_strings.h>
