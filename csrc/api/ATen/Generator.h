#pragma once
#include <aten/core/Generator.h>
