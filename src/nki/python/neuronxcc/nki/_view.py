"""Indexing: from a tensor and an index expression to the simulator's view.

Integers, slices, nl.ds and `...` are the simulator's own indexing. Index expressions (_index.py) become access patterns:
the element of a tile at (i0, i1, …) is an affine function of its position. A tile of indices gathers rows of HBM.
"""
from nki import _core
from neuronxcc.nki import _tensor
from neuronxcc.nki._errors import error, refusal
from neuronxcc.nki._index import Index, aligned_steps, common_shape

NkiTensor = _core.NkiTensor


def index(tensor, key):
    """tensor[key]"""
    if not isinstance(key, tuple):
        key = (key,)
    for item in key:
        if type(item) is Index:
            return _affine(tensor, key)
    for item in key:
        if isinstance(item, _tensor.Tensor):
            return _affine(tensor, key)
    return _basic(tensor, key)


def _basic(tensor, key):
    core = tensor.core
    if core is None:
        raise refusal("err_tensor_access_out_of_bound", f"{tensor!r} indexed again; narrow it with mask= first")
    key = tuple([_plain(item) for item in key])
    try:
        view = core[key]
    except _core.NkiError as refused:
        if refused.error_class != "out-of-bounds":
            raise
        raise refusal("err_tensor_access_out_of_bound", str(refused)) from None
    return _tensor.Tensor(view, fill=tensor.fill)


def _plain(item):
    """NumPy's integers as Python's."""
    kind = type(item)
    if kind is int or kind is slice or item is Ellipsis or item is None:
        return item
    return int(item) if hasattr(item, "__index__") else item


class Far:
    """A part that leaves its tensor: only what a mask makes of it can be used."""

    __slots__ = ("base", "entries", "shape")

    def __init__(self, base, entries, shape):
        self.base = base
        self.entries = entries  # (start, steps) by dimension of the base
        self.shape = shape

    def within(self, box):
        if box is None:
            box = [(0, size) for size in self.shape]
        for dim, (start, steps) in enumerate(self.entries):
            low = high = start
            for step, (begin, end) in zip(steps, box):
                low += min(step * begin, step * (end - 1))
                high += max(step * begin, step * (end - 1))
            if low < 0 or high >= self.base.shape[dim]:
                raise refusal("err_tensor_access_out_of_bound", f"elements {low} to {high} of dimension {dim} of "
                              f"{self.base!r}, which has {self.base.shape[dim]}; narrow the access with mask=")
        return _pattern(self.base, self.entries, box)


def _pattern(base, entries, box):
    """The access pattern of affine `entries` over a box of positions."""
    strides = base.strides
    offset = base.offset
    steps = [0] * len(box)
    for stride, (start, entry) in zip(strides, entries):
        offset += stride * start
        for dim, step in enumerate(entry):
            if step:
                steps[dim] += stride * step
    pattern = []
    for step, (begin, end) in zip(steps, box):
        offset += step * begin
        pattern.append((step, end - begin))
    return base.ap(pattern, offset)


def _affine(tensor, key):
    base = tensor.core
    if base is None:
        raise refusal("err_tensor_access_out_of_bound", f"{tensor!r} indexed again; narrow it with mask= first")
    form = tuple([item.form if type(item) is Index else None for item in key])
    plans = tensor.plans
    if plans is None:
        layout = base.shape, base.strides
        plans = _plans.get(layout)
        if plans is None:
            if len(_plans) > 4096:
                _plans.clear()
            plans = _plans[layout] = {}
        tensor.plans, tensor.views = plans, {}
    plan = plans.get(form)
    if plan is None:
        plan = _plan(tensor, base, key)
        if not isinstance(plan, _Plan):
            return plan
        if plan.reusable:
            plans[form] = plan
    offset = 0
    for item, (stride, least, most) in zip(key, plan.terms):
        start = item.start if type(item) is Index else int(item)
        if start < least or start > most:
            return _outside(tensor, base, key)
        offset += stride * start
    views = tensor.views
    found = views.get((plan, offset))
    if found is None or found.fill is not tensor.fill:
        if len(views) > 256:
            views.clear()
        found = views[plan, offset] = _tensor.Tensor(base.ap(plan.pattern, base.offset + offset), plan.shape, tensor.fill,
                                                     dtype=tensor.dtype)
    return found


_plans = {}  # by shape and strides of the tensor, then by the forms of the indices


class _Plan:
    """What indices of the same steps and shapes on tensors of the same shape have in common: all but where they start."""

    __slots__ = ("shape", "pattern", "terms", "reusable")


def _plan(tensor, base, key):
    given = key
    key, shape, gathered = _complete(base, key)
    if gathered is not None:
        return _gather(tensor, base, key, shape, gathered)
    if len(shape) == 1:
        _refuse_one_dimension(base, shape)
        shape = (1,) + shape
    ndim = len(shape)
    plan = _Plan()
    steps = [0] * ndim
    plan.terms = []
    for item, stride, size in zip(key, base.strides, base.shape):
        low = high = 0
        if type(item) is Index:
            for dim, step in enumerate(aligned_steps(item, ndim)):
                steps[dim] += stride * step
            low, high = item.last()
            low, high = low - item.start, high - item.start
        plan.terms.append((stride, -low, size - 1 - high))  # starts from, to
    plan.shape = tuple(shape)
    plan.pattern = list(zip(steps, shape))
    plan.reusable = len(key) == len(given) and not any(isinstance(item, slice) or item is Ellipsis for item in given)
    if not plan.reusable:
        return _from_entries(tensor, base, key, shape)
    return plan


def _from_entries(tensor, base, key, shape):
    ndim = len(shape)
    entries, inside = [], True
    for item, size in zip(key, base.shape):
        if type(item) is Index:
            low, high = item.last()
            entries.append((item.start, aligned_steps(item, ndim)))
        else:
            item = int(item)
            low = high = item = item + size if item < 0 else item
            entries.append((item, ()))
        inside = inside and low >= 0 and high < size
    if not inside:
        return _tensor.Tensor(None, shape, tensor.fill, Far(base, entries, shape), base.dtype)
    view = _pattern(base, entries, [(0, size) for size in shape])
    return _tensor.Tensor(view, shape, tensor.fill, dtype=view.dtype)


def _outside(tensor, base, key):
    """An access that leaves the tensor or counts from its end."""
    key, shape, _ = _complete(base, key)
    shape = (1,) + shape if len(shape) == 1 else shape
    return _from_entries(tensor, base, key, shape)


def _refuse_one_dimension(base, shape):
    if base.buffer.name in ("sbuf", "psum") or len(shape) == 1:
        raise refusal("err_1d_arange_not_supported", f"{base!r} indexed by an arange of one dimension; expected "
                      "nl.arange(n)[:, None] for partitions, nl.arange(n)[None, :] for the free dimension")


def _complete(base, key):
    """The key with one entry a dimension, the shape it makes, and the place of a tile of indices or None."""
    if Ellipsis in [item for item in key if item is Ellipsis]:
        place = next(i for i, item in enumerate(key) if item is Ellipsis)
        key = key[:place] + (slice(None),) * (base.ndim - len(key) + 1) + key[place + 1:]
    if len(key) > base.ndim:
        raise error("shape", f"{len(key)} indices of {base!r}; expected {base.ndim} at most")
    if len(key) < base.ndim:
        key = key + (slice(None),) * (base.ndim - len(key))
    shape, gathered = (), None
    for place, item in enumerate(key):
        if type(item) is Index:
            shape = item.shape if shape == () else common_shape(shape, item.shape)
        elif isinstance(item, _tensor.Tensor):
            if gathered is not None:
                raise refusal("err_indirect_indices_free_dim", f"{base!r} indexed by two tiles; expected one, of rows")
            gathered = place
    if gathered is not None:  # its partitions are the first dimension of what is gathered
        rows = key[gathered].shape[0]
        shape = shape or (1, 1)
        shape = common_shape(shape, (rows,) + (1,) * (len(shape) - 1))
    return _slices_as_expressions(base, key, shape) + (gathered,)


def _slices_as_expressions(base, key, shape):
    """Whole slices after the index expressions are further dimensions; others cannot be mixed with them."""
    count = sum(isinstance(item, slice) for item in key)
    if count == 0:
        return key, shape
    whole = [isinstance(item, slice) and item == slice(None) for item in key]
    if sum(whole) != count or not all(whole[-count:]):
        raise refusal("err_unsupported_mixing_basic_advanced_tensor_indexing", f"{base!r} indexed by slices and index "
                      "expressions together; write nl.arange(begin, end) for the slice, placed by None")
    ndim = len(shape) + count
    result = [item[(Ellipsis,) + (None,) * count] if type(item) is Index else item for item in key[:-count]]
    sizes = base.shape[len(key) - count:]
    for place, size in enumerate(sizes):
        steps = [0] * ndim
        steps[len(shape) + place] = 1
        result.append(Index(0, tuple(steps), tuple(size if s else 1 for s in steps)))
    return tuple(result), shape + tuple(sizes)


def _gather(tensor, base, key, shape, place):
    """Rows of an HBM tensor chosen by a tile of one index a partition."""
    if base.buffer.name in ("sbuf", "psum"):
        raise refusal("err_copy_dynamic_indirect_indices_not_natively_supported", f"{base!r} indexed by a tile; rows are "
                      "gathered from HBM, within a partition by nl.gather_flattened or nisa.local_gather")
    offsets = key[place]
    if any(size != 1 for size in offsets.shape[1:]):
        raise refusal("err_indirect_indices_free_dim", f"{base!r} indexed by {offsets!r}; expected one index a partition")
    leading = key[:place]
    if any(type(item) is Index for item in leading):
        raise refusal("err_indirect_indices_free_dim", f"{base!r} indexed by a tile behind an index expression; expected "
                      "integers before it")
    if leading:
        base = base[tuple(int(item) for item in leading)]
    ndim = len(shape)
    entries = [(0, ())]
    for item, size in zip(key[place + 1:], base.shape[1:]):
        entries.append((item.start, aligned_steps(item, ndim)) if type(item) is Index else (int(item), ()))
        low, high = item.last() if type(item) is Index else (item, item)
        if low < 0 or high >= size:
            raise refusal("err_tensor_access_out_of_bound", f"elements {low} to {high} of {base!r}, gathered by rows")
    rows = Gathered(base, entries, shape, offsets)
    return _tensor.Tensor(None, shape, tensor.fill, rows, base.dtype)


class Gathered:
    """Rows of `base` chosen by a tile of indices."""

    __slots__ = ("base", "entries", "shape", "offsets")

    def __init__(self, base, entries, shape, offsets):
        self.base = base
        self.entries = entries
        self.shape = shape
        self.offsets = offsets

    def within(self, box):
        box = box or [(0, size) for size in self.shape]
        begin, end = box[0]
        offsets = self.offsets.read([box[0]] + [(0, 1)] * (len(self.offsets.shape) - 1))
        strides, offset = self.base.strides, self.base.offset
        steps = [0] * len(box)
        for stride, (start, entry) in zip(strides[1:], self.entries[1:]):
            offset += stride * start
            for dim, step in enumerate(entry):
                steps[dim] += stride * step
        steps[0] = strides[0]
        pattern = [(strides[0], end - begin)]
        for step, (first, last) in zip(steps[1:], box[1:]):
            offset += step * first
            pattern.append((step, last - first))
        return self.base.ap(pattern, offset, vector_offset=offsets, indirect_dim=0)


def broadcast(core, shape):
    """A view of `shape` in which dimensions of size 1 are read again and again; the first one too."""
    sizes, strides = core.shape, core.strides
    missing = len(shape) - len(sizes)
    if missing < 0 or any(a not in (1, b) for a, b in zip(sizes, shape[missing:])):
        raise error("shape", f"{core!r} does not broadcast to {tuple(shape)}; expected equal sizes, or 1")
    if sizes == tuple(shape):
        return core
    if missing and core.buffer.name in ("sbuf", "psum"):
        raise error("shape", f"{core!r} to {tuple(shape)}; on the chip dimensions cannot be added before partitions")
    pattern = [(0, size) for size in shape[:missing]]
    pattern += [(stride if old == new else 0, new) for stride, old, new in zip(strides, sizes, shape[missing:])]
    return core.ap(pattern, core.offset)
