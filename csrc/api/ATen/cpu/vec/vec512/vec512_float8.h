#pragma once

#include <aten/cpu/vec/registers.h>
#include <aten/cpu/vec/vec_base.h>
