#pragma once

#include <aten/native/cpu/Reduce.h>
