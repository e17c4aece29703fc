"""Tells LLVM which line of a kernel's source each instruction comes from.

In: a module and its kernel function. Out: for each line a location, to be put on a builder; LLVM
carries it through its passes into the assembly (as `.loc`). Only texts are made this way: what
runs has no line tables.

    lines = LineInfo(module, function)
    builder.debug_metadata = lines.at(12)

Source: https://llvm.org/docs/SourceLevelDebugging.html
"""

from llvmlite import ir

I32 = ir.IntType(32)
WARN_ON_MISMATCH = 2
DWARF_VERSION = 4
DEBUG_INFO_VERSION = 3


class LineInfo:
    """The debug information of one function: nothing but its line numbers."""

    def __init__(self, module: ir.Module, function: ir.Function):
        self.module = module
        file = module.add_debug_info("DIFile", {"filename": "kernel", "directory": ""})
        unit = module.add_debug_info(
            "DICompileUnit",
            {
                "language": ir.DIToken("DW_LANG_Python"),
                "file": file,
                "isOptimized": True,
                "runtimeVersion": 0,
                "emissionKind": ir.DIToken("LineTablesOnly"),
            },
            is_distinct=True,
        )
        kind = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([None])})
        self.scope = module.add_debug_info(
            "DISubprogram",
            {
                "name": function.name,
                "file": file,
                "scope": file,
                "line": 1,
                "type": kind,
                "unit": unit,
                "spFlags": ir.DIToken("DISPFlagDefinition | DISPFlagOptimized"),
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", self.scope)
        module.add_named_metadata("llvm.dbg.cu", unit)
        for name, version in (
            ("Dwarf Version", DWARF_VERSION),
            ("Debug Info Version", DEBUG_INFO_VERSION),
        ):
            flag = [I32(WARN_ON_MISMATCH), name, I32(version)]
            module.add_named_metadata("llvm.module.flags", flag)

    def at(self, line: int) -> ir.DIValue:
        """The location of a line, counted from 1."""
        return self.module.add_debug_info("DILocation", {"line": line, "scope": self.scope})
