"""The language-model head in training: product with the vocabulary, softcap, cross-entropy and the gradients of all of it,
without logits in HBM. The host op `head_loss_train` with one target a token; `head_loss` is the loss alone.

    z = cap tanh(x w^T / cap)     nll = log sum exp z - z[target]     loss = share sum nll
    x [tokens, width], w [vocab, width], targets [tokens, 1] i32, negative where ignored; share [1, 1] is the weight of the
    loss over the number of targets that count. Gives loss [1, 1], nll [tokens, 1], dx as x, dw [vocab, width] fp32.
The cap bounds z, so exp(z - cap) needs no running maximum. Tokens pass in chunks. Of each, exp(z - cap)(1 - tanh^2) of all
words stays in SBUF, rounded to the type of x as the products with w and x read it; the sum of exponentials turns it into
the gradient. A target's own z comes from its row of w, fetched by its id.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from pointwise import total_of
from tiles import (BANK, PARTITIONS, bytes_of, even_pieces, hbm, length, load, load_row, load_together, load_transposed,
                   pieces, psum, sbuf, together)

HELD = 65536  # bytes of a partition for the gradient of a chunk's logits
CHUNK = 512   # most tokens of a chunk: what one product moves
ACROSS = 5    # pieces of 128 of the width of dx that are summed in one pass
TOGETHER = 4  # pieces of 128 rows in one transfer
WORDS = 1024  # words that pass together


def head_loss_train_reference(x, w, targets, share, softcap=15.0, dw=None):
    import numpy as np
    wide, table, wanted = np.asarray(x, dtype=np.float32), np.asarray(w, dtype=np.float32), np.asarray(targets)[:, 0]
    bent = np.tanh(wide @ table.T / softcap)
    powers = np.exp(softcap * bent - softcap)
    total = powers.sum(axis=1, keepdims=True)
    counts = (wanted >= 0)[:, None]
    here = np.maximum(wanted, 0).astype(np.int64)[:, None]
    nll = counts * (np.log(total) + softcap - softcap * np.take_along_axis(bent, here, axis=1))
    gradient = powers / total
    np.put_along_axis(gradient, here, np.take_along_axis(gradient, here, axis=1) - 1, axis=1)
    gradient = np.asarray(share)[0, 0] * counts * gradient * (1 - bent * bent)
    gradient = gradient.astype(x.dtype).astype(np.float32)
    total_dw = gradient.T @ wide + (0 if dw is None else dw)
    return ((np.asarray(share) * nll.sum()).astype(np.float32), nll.astype(np.float32), (gradient @ table).astype(x.dtype),
            total_dw.astype(np.float32))


def head_loss_reference(x, w, targets, share, softcap=15.0):
    return head_loss_train_reference(x, w, targets, share, softcap)[:2]


@nki.jit
def head_loss(x, w, targets, share, softcap=15.0):
    return train(x, w, targets, share, softcap, None, False)


@nki.jit
def head_loss_train(x, w, targets, share, softcap=15.0, dw=None):
    """dw: the gradient of w so far."""
    return train(x, w, targets, share, softcap, dw, True)


def train(x, w, targets, share, softcap, dw, gradients):
    assert softcap > 0, "this kernel needs a softcap: without one a running maximum is needed"
    tokens, width = x.shape
    vocab = w.shape[0]
    nll, dx, new_dw = hbm((tokens, 1)), hbm(x.shape, x.dtype), hbm(w.shape)
    most = HELD // (vocab * bytes_of(x.dtype)) * PARTITIONS if gradients else CHUNK
    assert most > 0, f"the vocabulary is {vocab}; at most {HELD // bytes_of(x.dtype)} words fit"
    floor = sbuf((PARTITIONS, 1))
    nisa.memset(dst=floor, value=-softcap)
    factor = load_row(share, slice(0, 1))
    chunks = pieces(tokens, min(most, CHUNK))
    losses = sbuf((PARTITIONS, len(pieces(tokens, PARTITIONS)) + len(chunks)))
    nisa.memset(dst=losses, value=0.0)
    seen = 0
    for n, chunk in enumerate(chunks):
        tiles = [slice(chunk.start + p.start, chunk.start + p.stop) for p in pieces(length(chunk), PARTITIONS)]
        sums, logits = forward(x, w, chunk, tiles, softcap, floor, gradients)
        for i, here in enumerate(tiles):
            own = target_of(x, w, targets, here, softcap)
            one = token_loss(sums[i], own, softcap)
            nisa.dma_copy(dst=nll[here, :], src=one)
            nisa.tensor_tensor(dst=losses[:length(here), seen + i:seen + i + 1], data1=one, data2=factor[:length(here), :],
                               op=nl.multiply)
            if gradients:
                to_gradient(logits[i], sums[i], own, factor[:length(here), :], vocab)
        seen += len(tiles)
        if gradients:
            backward(x, w, chunk, tiles, logits, dx, new_dw, new_dw if n > 0 else dw)
    loss = total_of(losses)
    return (loss, nll, dx, new_dw) if gradients else (loss, nll)


def forward(x, w, chunk, tiles, softcap, floor, gradients):
    """For each 128 tokens the sum of exp(z - cap), and (tanh^2 - 1) exp(z - cap) of every word."""
    depths = pieces(x.shape[1], PARTITIONS)
    turned = [load_transposed(x[chunk, k]) for k in depths]
    vocab = w.shape[0]
    blocks = even_pieces(vocab, WORDS)
    parts = [sbuf((length(here), len(blocks))) for here in tiles]
    logits = [sbuf((length(here), vocab), x.dtype) for here in tiles] if gradients else []
    for n, block in enumerate(blocks):
        words = [load_transposed(w[block, k]) for k in depths]
        # All the tanh of a block before its exponentials: each function's table is loaded once.
        bent = [bent_logits(turned, words, slice(here.start - chunk.start, here.stop - chunk.start), block, softcap)
                for here in tiles]
        for i, tile in enumerate(bent):
            powers = sbuf(tile.shape)
            nisa.activation_reduce(dst=powers, op=nl.exp, data=tile, scale=softcap, bias=floor[:tile.shape[0], :],
                                   reduce_op=nl.add, reduce_res=parts[i][:, n:n + 1])
            if gradients:
                squares = sbuf(tile.shape)
                nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply, engine=nisa.engine.gpsimd)
                nisa.scalar_tensor_tensor(dst=logits[i][:, block], data=squares, op0=nl.subtract, operand0=1.0,
                                          op1=nl.multiply, operand1=powers)
    sums = [sbuf((length(here), 1)) for here in tiles]
    for part, total in zip(parts, sums):
        nisa.tensor_reduce(dst=total, op=nl.add, data=part, axis=1)
    return sums, logits


def bent_logits(turned, words, here, block, softcap):
    """tanh(x w^T / cap) of 128 tokens and a block of words."""
    bent = sbuf((length(here), length(block)))
    for few in even_pieces(length(block), BANK):
        total = psum((length(here), length(few)))
        for k in range(len(turned)):
            nisa.nc_matmul(dst=total, stationary=turned[k][:, here], moving=words[k][:, few], accumulate=k > 0)
        nisa.activation(dst=bent[:, few], op=nl.tanh, data=total, scale=1.0 / softcap)
    return bent


class Target(nki.NKIObject):
    """Of 128 tokens: the target as fp32, 1 where it counts, and tanh of its logit; [128, 1] each."""


def target_of(x, w, targets, here, softcap):
    count, width = length(here), x.shape[1]
    own = Target()
    own.word, own.counts, own.bent = sbuf((count, 1)), sbuf((count, 1)), sbuf((count, 1))
    wanted, known = load(targets[here, :]), sbuf((count, 1), targets.dtype)
    nisa.tensor_copy(dst=own.word, src=wanted)
    nisa.tensor_scalar(dst=own.counts, data=own.word, op0=nl.greater_equal, operand0=0.0, engine=nisa.engine.vector)
    nisa.tensor_scalar(dst=known, data=own.word, op0=nl.maximum, operand0=0.0, engine=nisa.engine.vector)
    rows = sbuf((count, width), w.dtype)
    nisa.dma_copy(dst=rows, src=w.ap(pattern=[[width, count], [1, width]], offset=0, vector_offset=known, indirect_dim=0))
    product, unread, logit = sbuf((count, width)), sbuf((count, width), nl.bfloat16), sbuf((count, 1))
    nisa.tensor_tensor(dst=product, data1=load(x[here, :]), data2=rows, op=nl.multiply, engine=nisa.engine.gpsimd)
    nisa.activation_reduce(dst=unread, op=nl.copy, data=product, reduce_op=nl.add, reduce_res=logit)
    nisa.activation(dst=own.bent, op=nl.tanh, data=logit, scale=1.0 / softcap)
    return own


def token_loss(total, own, softcap):
    logarithm, loss = sbuf(total.shape), sbuf(total.shape)
    nisa.activation(dst=logarithm, op=nl.log, data=total)
    nisa.scalar_tensor_tensor(dst=loss, data=own.bent, op0=nl.multiply, operand0=-softcap, op1=nl.add, operand1=logarithm)
    nisa.scalar_tensor_tensor(dst=loss, data=loss, op0=nl.add, operand0=softcap, op1=nl.multiply, operand1=own.counts)
    return loss


def to_gradient(logits, total, own, factor, vocab):
    """In place: (tanh^2 - 1) exp(z - cap) becomes share (p - [word is the target]) (1 - tanh^2)."""
    column = total.shape
    each, at_target, shifted = sbuf(column), sbuf(column), sbuf(column)
    nisa.reciprocal(dst=each, data=total)
    nisa.scalar_tensor_tensor(dst=each, data=each, op0=nl.multiply, operand0=factor, op1=nl.multiply, operand1=own.counts)
    nisa.tensor_scalar(dst=each, data=each, op0=nl.multiply, operand0=-1.0, engine=nisa.engine.vector)
    nisa.tensor_tensor(dst=at_target, data1=own.bent, data2=own.bent, op=nl.multiply)
    nisa.tensor_scalar(dst=at_target, data=at_target, op0=nl.multiply, operand0=-1.0, op1=nl.add, operand1=1.0,
                       engine=nisa.engine.vector)
    nisa.scalar_tensor_tensor(dst=at_target, data=at_target, op0=nl.multiply, operand0=factor, op1=nl.multiply,
                              operand1=own.counts)
    blocks = pieces(vocab, 2 * WORDS)
    words = sbuf((column[0], length(blocks[0])))
    nisa.iota(dst=words, pattern=[[1, length(blocks[0])]], offset=0, channel_multiplier=0)
    for block in blocks:
        hit = sbuf((column[0], length(block)), logits.dtype)
        nisa.tensor_scalar(dst=shifted, data=own.word, op0=nl.subtract, operand0=float(block.start),
                           engine=nisa.engine.vector)
        nisa.tensor_scalar(dst=hit, data=words[:, :length(block)], op0=nl.equal, operand0=shifted, op1=nl.multiply,
                           operand1=at_target, engine=nisa.engine.vector)
        nisa.scalar_tensor_tensor(dst=logits[:, block], data=logits[:, block], op0=nl.multiply, operand0=each,
                                  op1=nl.subtract, operand1=hit)


def backward(x, w, chunk, tiles, logits, dx, new_dw, before):
    """dx of the chunk, and new_dw = before + what the chunk adds. dx is summed turned, [width, tokens], so that one product
    moves all tokens; five pieces of its width at a time leave room in PSUM for the rest. Rows of w and of new_dw travel
    512 at a time, and come before the tensor engine needs them."""
    rows = [load(x[here, :]) for here in tiles]
    words = pieces(w.shape[0], PARTITIONS)
    depths = pieces(x.shape[1], PARTITIONS)
    for n, few in enumerate(pieces(len(depths), ACROSS)):
        sums = [psum((length(k), length(chunk))) for k in depths[few]]
        columns = slice(depths[few][0].start, depths[few][-1].stop)
        old = before if n == 0 else None
        groups = [words[some] for some in pieces(len(words), TOGETHER)]
        coming = rows_of_words(w, old, groups[0], columns)
        next_turned = [turned_logits(logits, some, length(chunk)) for some in groups[0]]
        for g, group in enumerate(groups):
            (tables, olds), turned = coming, next_turned
            if g + 1 < len(groups):
                coming = rows_of_words(w, old, groups[g + 1], columns)
                next_turned = [turned_logits(logits, some, length(chunk)) for some in groups[g + 1]]
            for i in range(len(group)):
                for k, total in zip(depths[few], sums):
                    at = slice(k.start - columns.start, k.stop - columns.start)
                    nisa.nc_matmul(dst=total, stationary=tables[i][:, at], moving=turned[i], accumulate=g + i > 0)
            if n == 0:
                add_to_table(new_dw, olds, group, logits, rows)
        for k, total in zip(depths[few], sums):
            store_turned(dx, chunk, tiles, k, total)


def rows_of_words(w, old, group, columns):
    """Rows of w, and all of those of the gradient so far if there is one."""
    olds = load_together(old, group, slice(0, old.shape[1])) if old != None else []
    return load_together(w, group, columns), olds


def turned_logits(logits, some, tokens):
    """The gradient of some words' logits as [words, tokens of the chunk]."""
    turned, tile = psum((length(some), tokens), logits[0].dtype), sbuf((length(some), tokens), logits[0].dtype)
    for i, part in enumerate(logits):
        nisa.nc_transpose(dst=turned[:, i * PARTITIONS:i * PARTITIONS + part.shape[0]], data=part[:, some],
                          engine=nisa.engine.tensor)
    nisa.tensor_copy(dst=tile, src=turned)
    return tile


def add_to_table(new_dw, olds, group, logits, rows):
    """Rows of some words: olds (may be empty) plus the products of the chunk."""
    width = new_dw.shape[1]
    size = length(group[-1])
    block = sbuf((PARTITIONS, len(group), width))
    for w, some in enumerate(group):
        for columns in even_pieces(width, BANK):
            total, result = psum((length(some), length(columns))), block[:length(some), w, columns]
            for i, part in enumerate(logits):
                nisa.nc_matmul(dst=total, stationary=part[:, some], moving=rows[i][:, columns], accumulate=i > 0)
            if len(olds) > 0:
                nisa.tensor_tensor(dst=result, data1=olds[w][:, columns], data2=total, op=nl.add)
            else:
                nisa.tensor_copy(dst=result, src=total)
    if size == PARTITIONS:
        nisa.dma_copy(dst=together(new_dw, group, slice(0, width)), src=block)
    else:
        for w, some in enumerate(group):
            nisa.dma_copy(dst=new_dw[some, :], src=block[:length(some), w, :])


def store_turned(dx, chunk, tiles, k, total):
    """dx[chunk, k] from its [k, tokens] in PSUM."""
    rounded = sbuf(total.shape, dx.dtype)
    nisa.tensor_copy(dst=rounded, src=total)
    for here in tiles:
        turned, rows = psum((length(here), length(k)), dx.dtype), sbuf((length(here), length(k)), dx.dtype)
        nisa.nc_transpose(dst=turned, data=rounded[:, here.start - chunk.start:here.stop - chunk.start],
                          engine=nisa.engine.tensor)
        nisa.tensor_copy(dst=rows, src=turned)
        nisa.dma_copy(dst=dx[here, k], src=rows)
