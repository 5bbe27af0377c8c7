#pragma once

#include <aten/Parallel.h>
