#pragma once
#include <aten/OpMathType.h>
