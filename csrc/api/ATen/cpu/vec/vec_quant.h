#pragma once

#include <aten/cpu/vec/vec_quant.h>
