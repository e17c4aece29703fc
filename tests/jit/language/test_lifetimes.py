"""When objects are freed: `__del__` and weak references see the same as in Python."""

import copy
import weakref

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
log: list = []


class Owner:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append(len(self.log))


class Derived(Owner):
    pass


class Held(list):
    def __del__(self):
        log.append(len(self))


class Error(Exception):
    def __del__(self):
        log.append("error")


class Pair(tuple):
    __slots__ = ()

    def __del__(self):
        log.append("pair")


class Plain:
    def method(self):
        return 1


def told():
    """What was logged, which starts anew."""
    found = list(log)
    log.clear()
    return found


@program(breaks=True)
def let_go(x):
    log = [1]
    owner = Owner(log)
    owner = None
    log.append(len(log))
    return x + len(log), log, owner


@program(breaks=True)
def never_bound(x):
    log = [1]
    Derived(log)
    log.append(len(log))
    return x, log


@program(breaks=True)
def of_a_callee(x):
    log = []

    def inner():
        owner = Owner(log)
        return len(owner.log)

    return inner() + x, len(log)


@program(breaks=True)
def replaced_in_a_list(x):
    log = []
    owners = [Owner(log)]
    owners[0] = 1
    return x, len(log), owners


@program(breaks=True)
def of_a_class_made_inside(x):
    log = []

    class Local:
        def __del__(self):
            log.append("freed")

    Local()
    return x, len(log)


@program(breaks=True)
def of_native_kinds(x):
    held = Held([1, 2])
    held = None
    log.append("then")
    try:
        raise Error
    except Error:
        pass
    log.append("then")
    Pair((1, 2))
    Pair.__new__(Pair, (1, 2))
    log.append("then")
    return x, told(), held


@program(breaks=True)
def copied(x):
    log = []
    owner = Owner(log)
    copy.copy(owner)
    return x, len(log)


@program
def one_from_outside():
    log = []
    owner = Owner(log)

    def fn(x):
        owner.size = 2
        return x + len(owner.log)

    return fn, (torch.ones(2),), lambda: (log, owner.size)


@program(breaks=True)
def a_tensor_let_go(x):
    y = x * 2
    held = weakref.ref(y)
    there = held() is y
    del y
    return there, held() is None


@program(breaks=True)
def an_instance_let_go(x):
    plain = Plain()
    held = weakref.ref(plain)
    first = held() is plain
    plain = x
    return first, held() is None, plain


@program(breaks=True)
def a_function_let_go(x):
    def inner():
        return x

    held = weakref.ref(inner)
    del inner
    return held() is None


@program(breaks=True)
def with_a_callback(x):
    log = []
    plain = Plain()
    held = weakref.ref(plain, lambda _: log.append("freed"))
    del plain
    log.append("then")
    return log, held() is None


@program(breaks=True)
def a_finalizer(x):
    log = []
    plain = Plain()
    weakref.finalize(plain, log.append, "freed")
    del plain
    log.append("then")
    return log


@program(breaks=True)
def containers_of_weak_references(x):
    found = []
    for kind in (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary):
        held, plain = kind(), Plain()
        if kind is weakref.WeakSet:
            held.add(plain)
        elif kind is weakref.WeakKeyDictionary:
            held[plain] = 1
        else:
            held[1] = plain
        found.append(len(held))
        del plain
        found.append(len(held))
    return x, found


@program(breaks=True)
def of_a_method(x):
    plain = Plain()
    held = weakref.WeakMethod(plain.method)
    found = held()()
    del plain
    return found, held() is None


@program(breaks=True)
def through_a_proxy(x):
    plain = Plain()
    held = weakref.proxy(plain)
    found = held.method()
    del plain
    try:
        held.method()
    except ReferenceError:
        return x, found


@program
def of_what_stays(x):
    class Local:
        pass

    return weakref.ref(x)() is x, weakref.ref(Local)() is Local


class Node:
    """Holds its children; its children hold it weakly."""

    def __init__(self, scale, parent=None):
        self.scale, self.children = scale, []
        self._parent = None if parent is None else weakref.ref(parent)
        if parent is not None:
            parent.children.append(self)

    @property
    def parent(self):
        return None if self._parent is None else self._parent()

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth()


@program
def references_from_outside():
    root = Node(2.0)
    leaf = Node(0.5, Node(3.0, root))
    held, named = torch.ones(2), weakref.WeakValueDictionary(root=root)
    tensor, gone = weakref.ref(held), weakref.ref(Plain())

    def fn(x):
        above = leaf.parent
        found = above.parent is root, leaf._parent() is above, leaf._parent, tensor() is held
        x = x * leaf.depth() + above.scale + tensor()
        return x, found, gone(), named["root"] is root, named.get("none"), "root" in named

    return fn, (torch.ones(2),), lambda: None


@program(again=True)
def a_reference_that_dies_between_calls():
    box, calls = [Node(2.0)], []
    reference = weakref.ref(box[0])

    def fn(x):
        calls.append(1)
        node = reference()
        return x if node is None else x * node.scale

    def arguments():
        if len(calls) == 1:
            box.clear()
        return (torch.ones(2),)

    return fn, arguments, lambda: len(calls)


@program(breaks=True, again=True)
def a_reference_that_dies_within_the_call():
    box = [Node(2.0)]
    reference = weakref.ref(box[0])

    def fn(x):
        box.clear()
        return x, reference() is None

    return fn, (torch.ones(2),), lambda: box


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
