#pragma once

#include <aten/native/DistributionTemplates.h>
