#pragma once

#include <aten/core/TransformationHelper.h>
