#pragma once

#include <aten/Operators.h>
