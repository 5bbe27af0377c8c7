#pragma once

#include <aten/CollapseDims.h>
