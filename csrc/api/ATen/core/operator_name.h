#pragma once

#include <aten/core/operator_name.h>
