#pragma once

#include <aten/core/custom_class_registry.h>
