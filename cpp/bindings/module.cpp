#include "bind.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "The native core of turnloom.";
  turnloom::bind_errors(module);
  turnloom::bind_json(module);
  turnloom::bind_token_table(module);
  turnloom::bind_tokenizer(module);
  turnloom::bind_bpe(module);
  turnloom::bind_pretokenizer(module);
  turnloom::bind_loss(module);
  turnloom::bind_renderer(module);
  turnloom::bind_packing(module);
  turnloom::bind_parse(module);
  turnloom::bind_bridge(module);
  turnloom::bind_text_format(module);
  turnloom::bind_hash(module);
  turnloom::bind_scan(module);
  turnloom::bind_tool_call_ids(module);
}
