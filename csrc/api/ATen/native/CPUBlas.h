#pragma once

#include <aten/native/CPUBlas.h>
