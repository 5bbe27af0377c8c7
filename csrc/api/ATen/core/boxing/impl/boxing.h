#pragma once

#include <aten/core/boxing/impl/boxing.h>
