#pragma once

#include <aten/core/DeprecatedTypeProperties.h>
