#pragma once

#include <aten/cpu/vec/functional.h>
