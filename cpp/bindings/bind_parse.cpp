#include <pybind11/critical_section.h>
#include <pybind11/stl.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "parsed_objects.hpp"
#include "read_ids.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/renderer.hpp"
#include "turnloom/token_table.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

using KnownTools = std::vector<std::string>;

std::shared_ptr<TokenBytes> make_token_bytes(const py::list& tokens) {
  std::string bytes;
  std::vector<std::size_t> begins{0};
  begins.reserve(tokens.size() + 1);
  for (const py::handle token : tokens) {
    bytes += std::string_view(py::cast<py::bytes>(token));
    begins.push_back(bytes.size());
  }
  return std::make_shared<TokenBytes>(std::move(bytes), std::move(begins));
}

std::shared_ptr<TokenBytes> token_bytes_of(const TokenTable& tokens) {
  std::string bytes;
  std::vector<std::size_t> begins{0};
  for (TokenId id = 0; id < tokens.end_id(); ++id) {
    bytes += tokens.bytes(id);
    begins.push_back(bytes.size());
  }
  return std::make_shared<TokenBytes>(std::move(bytes), std::move(begins));
}

CallSyntax read_call_syntax(const std::string& name) {
  if (name == "none") return CallSyntax::none;
  if (name == "tagged_json") return CallSyntax::tagged_json;
  if (name == "llama_json") return CallSyntax::llama_json;
  throw Error(ErrorKind::value, "calls", "unknown syntax " + quoted(name));
}

std::unique_ptr<CompletionParser> make_parser(const Renderer& renderer,
                                              std::shared_ptr<TokenBytes> token_bytes) {
  return std::make_unique<CompletionParser>(renderer.tokenizer(), std::move(token_bytes),
                                            renderer.completion_format());
}

/// The parser of a format that is known by its parts, not by a family.
std::unique_ptr<CompletionParser> make_parser_of_parts(const Tokenizer& tokenizer,
                                                       std::shared_ptr<TokenBytes> token_bytes,
                                                       const std::string& calls, bool has_reasoning,
                                                       std::vector<TokenId> stop_tokens) {
  CompletionFormat format;
  format.stop_tokens = std::move(stop_tokens);
  format.calls = read_call_syntax(calls);
  format.has_reasoning = has_reasoning;
  return std::make_unique<CompletionParser>(tokenizer, std::move(token_bytes), format);
}

/// None is no ids.
std::vector<TokenId> read_prompt(const py::object& ids, const Place& place) {
  return ids.is_none() ? std::vector<TokenId>() : read_token_ids(ids.ptr(), place);
}

py::object parse(const CompletionParser& parser, const py::object& token_ids, const KnownTools& known_tools,
                 const py::object& prompt_ids) {
  const std::vector<TokenId> ids = read_token_ids(token_ids.ptr(), Place("token_ids"));
  const std::vector<TokenId> prompt = read_prompt(prompt_ids, Place("prompt_ids"));
  ParsedCompletion completion;
  {
    const py::gil_scoped_release detached;
    completion = parser.parse(ids, prompt, known_tools);
  }
  return to_python(completion);
}

py::list parse_batch(const CompletionParser& parser, const py::list& completions,
                     const KnownTools& known_tools, const py::object& prompts, std::size_t threads) {
  std::vector<std::vector<TokenId>> storage;
  storage.reserve(2 * completions.size());
  std::vector<std::span<const TokenId>> rows;
  std::vector<std::span<const TokenId>> prompt_rows;
  const Place completions_place("completions");
  const Place prompts_place("prompts");
  for (std::size_t row = 0; row < completions.size(); ++row) {
    storage.push_back(read_token_ids(py::object(completions[row]).ptr(), completions_place.index(row)));
    rows.emplace_back(storage.back());
    if (prompts.is_none()) continue;
    storage.push_back(read_prompt(prompts[py::int_(row)], prompts_place.index(row)));
    prompt_rows.emplace_back(storage.back());
  }
  std::vector<ParsedCompletion> parsed;
  {
    const py::gil_scoped_release detached;
    parsed = parser.parse_batch(rows, prompt_rows, known_tools, threads);
  }
  py::list responses;
  for (const ParsedCompletion& completion : parsed) responses.append(to_python(completion));
  return responses;
}

/// A stream with what Python asks of it: an error behind the end, and the same response every time.
class BoundStream {
 public:
  explicit BoundStream(CompletionStream stream) : stream_(std::move(stream)) {}

  py::list feed(const py::object& ids) {
    const std::vector<TokenId> checked = read_token_ids(ids.ptr(), Place("ids"));
    if (ended_) throw Error(ErrorKind::value, "ids", "the completion was ended");
    deltas_.clear();
    stream_.feed(checked, deltas_);
    return to_python(deltas_);
  }

  py::list end() {
    deltas_.clear();
    if (!std::exchange(ended_, true)) stream_.end(deltas_);
    return to_python(deltas_);
  }

  py::object finish() {
    ended_ = true;
    if (!response_) response_ = to_python(stream_.finish());
    return response_;
  }

 private:
  CompletionStream stream_;
  std::vector<Delta> deltas_;
  bool ended_ = false;
  py::object response_;
};

template <typename Result, typename... Arguments>
auto one_at_a_time(Result (BoundStream::*method)(Arguments...)) {
  return [method](const py::object& self, const Arguments&... arguments) {
    const py::scoped_critical_section lock(self);
    return (self.cast<BoundStream&>().*method)(arguments...);
  };
}

BoundStream stream(const CompletionParser& parser, KnownTools known_tools, const py::object& prompt_ids) {
  return BoundStream(parser.stream(read_prompt(prompt_ids, Place("prompt_ids")), std::move(known_tools)));
}

}  // namespace

void bind_parse(py::module_& module) {
  py::class_<TokenBytes, std::shared_ptr<TokenBytes>>(module, "TokenBytes")
      .def(py::init(&make_token_bytes), py::arg("tokens"))
      .def_static("of_table", &token_bytes_of, py::arg("tokens"));
  py::class_<BoundStream>(module, "CompletionStream")
      .def("feed", one_at_a_time(&BoundStream::feed), py::arg("ids"))
      .def("end", one_at_a_time(&BoundStream::end))
      .def("finish", one_at_a_time(&BoundStream::finish));
  py::class_<CompletionParser>(module, "CompletionParser")
      .def(py::init(&make_parser), py::arg("renderer"), py::arg("token_bytes"))
      .def_static("of_parts", &make_parser_of_parts, py::arg("tokenizer"), py::arg("token_bytes"),
                  py::kw_only(), py::arg("calls"), py::arg("has_reasoning"), py::arg("stop_tokens"))
      .def("parse", &parse, py::arg("token_ids"), py::arg("known_tools"), py::arg("prompt_ids"))
      .def("parse_batch", &parse_batch, py::arg("completions"), py::arg("known_tools"), py::arg("prompts"),
           py::arg("threads"))
      .def("stream", &stream, py::arg("known_tools"), py::arg("prompt_ids"));
}

}  // namespace turnloom
