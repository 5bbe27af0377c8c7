#pragma once

#include <aten/native/ReduceOps.h>
