#pragma once

#include <aten/native/cpu/Loops.h>
