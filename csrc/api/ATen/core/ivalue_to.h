#pragma once

#include <aten/core/ivalue_to.h>
