"""Which blocks of a tensor no later instruction can name, found in the kernel's text.

A tensor of blocks is declared once, outside of its loops, and holds more than the chip has; the compiler for the chip
gives a block its place from first to last use. When all uses of such a tensor lie within one loop and index a block
dimension by that loop's variable, the blocks of an earlier trip are dead in the next one.
"""
import ast
import inspect
import sys
import textwrap

_of_code = {}


def dying_dimensions(package):
    """The block dimensions of the tensor that the running line of the kernel declares, of which earlier trips are dead."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    if frame is None:
        return ()
    code = frame.f_code
    found = _of_code.get(code)
    if found is None:
        found = _of_code[code] = _analysis(code)
    return found.get(frame.f_lineno, ())


def _analysis(code):
    """{line of declaration: dimensions}"""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        return {}
    uses = _Uses()
    function = tree.body[0]
    for statement in getattr(function, "body", ()):
        uses.visit(statement)
    return {line + first - 1: dims for name, (line, loops) in uses.declared.items()
            if name not in uses.unclear and (dims := _dying(uses.indexed.get(name, ()), loops))}


def _dying(indexed, declared_in):
    if not indexed:
        return ()
    common = indexed[0][0]
    for loops, _ in indexed:
        common = [a for a, b in zip(common, loops) if a is b]
    variables = {loop.target.id: loop for loop in common if loop not in declared_in}
    shortest = min(len(items) for _, items in indexed)
    return tuple(dim for dim in range(shortest) if _same_variable([items[dim] for _, items in indexed], variables))


def _same_variable(items, variables):
    names = {item.id if isinstance(item, ast.Name) else None for item in items}
    return len(names) == 1 and names.pop() in variables


class _Uses(ast.NodeVisitor):
    """Where names are declared and indexed, with the loops around."""

    def __init__(self):
        self.loops = []
        self.declared, self.indexed, self.unclear = {}, {}, set()

    def visit_For(self, node):
        self.visit(node.iter)
        if not isinstance(node.target, ast.Name):
            self.unclear.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            return
        self.loops.append(node)
        for statement in node.body + node.orelse:
            self.visit(statement)
        self.loops.pop()

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if target.id in self.declared or any(loop.target.id == target.id for loop in self.loops):
                    self.unclear.add(target.id)
                self.declared[target.id] = (node.lineno, list(self.loops))
            else:
                self.visit(target)

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name):
            index = node.slice
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            self.indexed.setdefault(node.value.id, []).append((list(self.loops), items))
        else:
            self.visit(node.value)
        self.visit(node.slice)

    def visit_Name(self, node):
        self.unclear.add(node.id)

    def _elsewhere(self, node):
        self.unclear.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))

    visit_FunctionDef = visit_Lambda = visit_While = visit_With = visit_ListComp = _elsewhere
