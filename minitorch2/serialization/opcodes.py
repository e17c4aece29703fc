"""The opcodes of Python's pickle language, protocol 2, that files of tensors are made of.

A pickle is a program for a stack machine: constants push a value, `TUPLE` and its like collect what
lies above a mark, `REDUCE` calls a named function, `BINPERSID` fetches a storage.

Source: the comments of CPython's Lib/pickletools.py.
"""

# The layouts of tensors that leave their zeros out.
SPARSE_COO, SPARSE_CSR = "torch.sparse_coo", "torch.sparse_csr"

PROTO, STOP = b"\x80", b"."
NONE, NEWTRUE, NEWFALSE = b"N", b"\x88", b"\x89"
BININT1, BININT2, BININT, LONG1, BINFLOAT = b"K", b"M", b"J", b"\x8a", b"G"
BINUNICODE, SHORT_BINUNICODE = b"X", b"\x8c"
BINSTRING, SHORT_BINSTRING = b"T", b"U"
MARK, EMPTY_TUPLE, TUPLE, TUPLE1, TUPLE2, TUPLE3 = b"(", b")", b"t", b"\x85", b"\x86", b"\x87"
EMPTY_LIST, APPEND, APPENDS = b"]", b"a", b"e"
EMPTY_DICT, SETITEM, SETITEMS = b"}", b"s", b"u"
GLOBAL, REDUCE, BUILD, BINPERSID = b"c", b"R", b"b", b"Q"
BINPUT, LONG_BINPUT, BINGET, LONG_BINGET = b"q", b"r", b"h", b"j"

# The class torch names for a storage of each dtype, and that of bytes, for dtypes without one.
BYTES = ("torch.storage", "UntypedStorage")
STORAGE_NAMES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}
