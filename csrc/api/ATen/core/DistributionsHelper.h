#pragma once

#include <aten/core/DistributionsHelper.h>
