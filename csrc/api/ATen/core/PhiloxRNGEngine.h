#pragma once

#include <aten/core/PhiloxRNGEngine.h>
