#pragma once

#include <c10/macros/Export.h>
