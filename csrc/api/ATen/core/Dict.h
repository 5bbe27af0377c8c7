#pragma once
#include <aten/core/ivalue.h>
