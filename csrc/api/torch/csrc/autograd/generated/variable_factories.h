#pragma once

#include <autograd/variable_factories.h>
