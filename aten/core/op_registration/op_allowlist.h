#pragma once

// Builds that leave out operators mark their registrations with these; here every operator is built.

#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define TORCH_SELECTIVE_CLASS(name) name
