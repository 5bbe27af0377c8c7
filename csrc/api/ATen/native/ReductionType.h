#pragma once

#include <aten/native/ReductionType.h>
