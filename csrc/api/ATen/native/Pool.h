#pragma once

#include <aten/native/Pool.h>
