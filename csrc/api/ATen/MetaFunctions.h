#pragma once

#include <aten/MetaFunctions.h>
