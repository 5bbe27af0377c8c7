// Functions that a model may call.
#pragma once

#include "api_error.h"

#include <torch/llm.h>

#include <string>
#include <vector>

/// The members 'tools' and 'tool_choice' of a request.
struct ToolRequest {
  Json tools; ///< null: there are none, or 'tool_choice' is "none"
  std::vector<std::string> forced; ///< the functions one of which has to be called; empty: as the model likes
};

/// Reads both, either of which may be nullptr. Throws ApiError for what is malformed, and for a choice that asks for a
/// function which is not among the tools.
ToolRequest read_tools(const Json* tools, const Json* choice);

/// The member 'tool_calls' of a message, with objects for arguments, which templates write in their own ways.
Json read_calls(const Json& calls);

/// The prompt with tools among the variables of the template. Throws when that is `plain`, the one without: the
/// template knows no tools, or when its answers cannot be read.
std::string with_tools(
    const torch::llm::ChatTemplate& chat, Json::Object variables, const Json& tools, const std::string& plain);
