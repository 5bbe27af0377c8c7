#pragma once

#include <aten/dlpack.h>
