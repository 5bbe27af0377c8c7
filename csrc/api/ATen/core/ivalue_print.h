#pragma once

#include <aten/core/ivalue_print.h>
