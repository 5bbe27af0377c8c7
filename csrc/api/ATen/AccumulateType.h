#pragma once
#include <aten/AccumulateType.h>
