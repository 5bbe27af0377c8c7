#pragma once

#include <aten/custom_class.h>
