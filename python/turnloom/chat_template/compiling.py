"""Templates to Python code that counts its work."""

from __future__ import annotations

import ast
import re
from types import CodeType

from jinja2 import TemplateSyntaxError, nodes
from jinja2.compiler import CodeGenerator, Frame

FILENAME = "<chat template>"


class CountingCodeGenerator(CodeGenerator):
    """Writes calls of the environment around what visits or makes whole values.

    What Python does by itself, comparing and joining, would go uncounted otherwise.
    """

    def _output_child_to_const(
        self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> str:
        # Expressions are not evaluated while compiling: that would be work outside of any rendering.
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        join = "markup_join" if frame.eval_ctx.autoescape else "str_join"
        if frame.eval_ctx.volatile:
            join = "(markup_join if context.eval_ctx.volatile else str_join)"
        self.write(f"{join}((")
        for operand in node.nodes:
            self._visit_in("piece", operand, frame)
            self.write(", ")
        self.write("))")

    def visit_Neg(self, node: nodes.UnaryExpr, frame: Frame) -> None:
        self.write("(-")
        self._visit_compared(node.node, frame)
        self.write(")")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        last = node.ops[-1]
        if last.op not in ("in", "notin") and len(node.ops) == 1 and _has_constant(node):
            super().visit_Compare(node, frame)  # nothing that is large equals a constant
            return
        self.write("(")
        self._visit_compared(node.expr, frame)
        for operand in node.ops:
            self.write(f" {_OPERATORS[operand.op]} ")
            self._visit_compared(operand.expr, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        is_target = node.ctx != "load"
        self.write("" if is_target else "environment.made(")
        super().visit_Tuple(node, frame)
        self.write("" if is_target else ")")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self.write("environment.made(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("environment.made({")
        for item in node.items:
            self._visit_compared(item.key, frame)
            self.write(": ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("})")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        is_slice = isinstance(node.arg, nodes.Slice)
        self.write("environment.made(" if is_slice else "")
        super().visit_Getitem(node, frame)
        self.write(")" if is_slice else "")

    def _visit_compared(self, node: nodes.Expr, frame: Frame) -> None:
        if isinstance(node, nodes.Const):
            self.visit(node, frame)
        else:
            self._visit_in("weighed", node, frame)

    def _visit_in(self, method: str, node: nodes.Expr, frame: Frame) -> None:
        self.write(f"environment.{method}(")
        self.visit(node, frame)
        self.write(")")


_OPERATORS = {
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "gteq": ">=",
    "lt": "<",
    "lteq": "<=",
    "in": "in",
    "notin": "not in",
}


def _has_constant(node: nodes.Compare) -> bool:
    return isinstance(node.expr, nodes.Const) or isinstance(node.ops[0].expr, nodes.Const)


def compile_counting(source: str) -> CodeType:
    """Compile generated code with a step in each function, and a visit in each turn of a loop.

    Raises:
        TemplateSyntaxError: Python refuses what Jinja lets through, as an argument that is given twice.
        SyntaxError: it nests too deeply for Python.
    """
    try:
        tree = _Instrumenting().visit(ast.parse(source, FILENAME))
        return compile(ast.fix_missing_locations(tree), FILENAME, "exec")
    except SyntaxError as error:
        if error.msg.startswith("too many"):  # levels of indentation, nested blocks, nested parentheses
            raise
        raise TemplateSyntaxError(error.msg, _template_line(source, error.lineno or 1)) from error


def _template_line(source: str, code_line: int) -> int:
    """Return the line of the template that a line of its code is from; the code ends with a table of them."""
    table = re.findall(r"([0-9]+)=([0-9]+)", source[source.rfind("\ndebug_info = ") :])
    lines = [int(line) for line, code in table if int(code) <= code_line]
    return lines[-1] if lines else 1


# Looking up an attribute, say. Most of them are in branches that are not taken.
_CALLS_A_STEP = 4
_EXPRESSIONS_A_STEP = 128  # names, operators and constants


class _Instrumenting(ast.NodeTransformer):
    """Turns `for item in items: ...` into

    outer = environment.visited()
    for item in items:
        environment.visit(item, outer, n_steps)
        ...
    environment.visit(None, outer, 0)
    """

    def __init__(self) -> None:
        self._n_loops = 0
        self._is_condition = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        around = self._is_condition
        self._is_condition = [argument.arg for argument in node.args.args] == ["fiter"]
        self.generic_visit(node)
        self._is_condition = around
        node.body.insert(0, _statement(f"environment.step({_n_steps(node)})", node))
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        if self._is_condition:
            # What a loop's `if` is compiled to: this can be a turn ahead of the loop it belongs to.
            node.body.insert(0, _statement(f"environment.step({_n_steps(node)})", node))
            return [node]
        self._n_loops += 1
        outer = f"outer_{self._n_loops}"
        # A loop that uses `loop` has two targets, the item and the loop.
        target = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
        item = target.id if isinstance(target, ast.Name) else "None"
        node.body.insert(0, _statement(f"environment.visit({item}, {outer}, {_n_steps(node)})", node))
        return [
            _statement(f"{outer} = environment.visited()", node),
            node,
            _statement(f"environment.visit(None, {outer}, 0)", node),
        ]


def _n_steps(node: ast.For | ast.FunctionDef) -> int:
    """Return what one run of a body costs, without the loops and functions in it."""
    n_calls = n_expressions = 0
    to_visit: list[ast.AST] = [*node.body]
    while to_visit:
        inner = to_visit.pop()
        if not isinstance(inner, (ast.For, ast.FunctionDef)):
            n_calls += isinstance(inner, ast.Call)
            n_expressions += isinstance(inner, ast.expr)
            to_visit += ast.iter_child_nodes(inner)
    return 1 + n_calls // _CALLS_A_STEP + n_expressions // _EXPRESSIONS_A_STEP


def _statement(source: str, place: ast.stmt) -> ast.stmt:
    statement = ast.parse(source).body[0]
    for node in ast.walk(statement):
        ast.copy_location(node, place)
    return statement
