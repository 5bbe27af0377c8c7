#pragma once

#include <aten/ScalarOps.h>
