#pragma once

#include <aten/native/cpu/DistributionTemplates.h>
