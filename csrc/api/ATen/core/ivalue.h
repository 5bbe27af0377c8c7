#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/weak_ivalue.h>
