#pragma once

#include <aten/cpu/vec/vec_convert.h>
#include <aten/cpu/vec/vec_base.h>
