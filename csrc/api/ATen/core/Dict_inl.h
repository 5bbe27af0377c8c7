#pragma once

#include <aten/core/Dict_inl.h>
