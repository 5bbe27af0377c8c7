#pragma once

#include <aten/core/class_type.h>
