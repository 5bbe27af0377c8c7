#pragma once

#include <aten/core/ivalue_inl.h>
