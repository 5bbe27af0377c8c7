#pragma once

#include <aten/cpu/vec/vec_base.h>
