"""Cross-entropy of a softcapped language-model head, without logits in HBM.

    z = cap tanh(x W / cap)        loss[t] = log sum_v exp(z[t, v]) - z[t, target[t]]
Operands: xT [D, tokens], w [D, vocabulary], target [tokens, 1] int32; D and tokens multiples of 128, the vocabulary of
512. The softcap bounds z by cap, so exp(z - cap) cannot overflow and no running maximum is needed.
"""
import nki
import nki.isa as nisa
import nki.language as nl

TOKENS = 128
WORDS = 512
DEPTH = 128


def softcap_cross_entropy_reference(xT, w, target, cap=15.0):
    import numpy as np
    logits = np.asarray(xT, dtype=np.float32).T @ np.asarray(w, dtype=np.float32)
    z = cap * np.tanh(logits / cap)
    picked = np.take_along_axis(z, np.asarray(target).astype(np.int64), axis=1)
    return (np.log(np.exp(z - cap).sum(axis=1, keepdims=True)) + cap - picked).astype(np.float32)


def sbuf(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


@nki.jit
def softcap_cross_entropy(xT, w, target, cap=15.0):
    D, tokens = xT.shape
    vocabulary = w.shape[1]
    assert D % DEPTH == 0, f"D is {D}; expected a multiple of {DEPTH}"
    assert tokens % TOKENS == 0, f"there are {tokens} tokens; expected a multiple of {TOKENS}"
    assert vocabulary % WORDS == 0, f"the vocabulary is {vocabulary}; expected a multiple of {WORDS}"
    loss = nl.ndarray((tokens, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(tokens // TOKENS):
        here = slice(t * TOKENS, (t + 1) * TOKENS)
        x = []
        for k in range(D // DEPTH):
            tile = sbuf((DEPTH, TOKENS), xT.dtype)
            nisa.dma_copy(dst=tile, src=xT[k * DEPTH:(k + 1) * DEPTH, here])
            x.append(tile)
        wanted = sbuf((TOKENS, 1), target.dtype)
        nisa.dma_copy(dst=wanted, src=target[here, :])
        wanted_f32 = sbuf((TOKENS, 1))
        nisa.tensor_copy(dst=wanted_f32, src=wanted)
        blocks = vocabulary // WORDS
        sums, picks = sbuf((TOKENS, blocks)), sbuf((TOKENS, blocks))
        for b in nl.affine_range(blocks):
            add_block(x, w, wanted_f32, b, cap, sums[:, b:b + 1], picks[:, b:b + 1])
        finish(loss, here, sums, picks, cap)
    return loss


def add_block(x, w, wanted, b, cap, block_sum, block_pick):
    """The share of WORDS words in the sum of exponentials, and the target's z if it is among them."""
    logits = nl.ndarray((TOKENS, WORDS), dtype=nl.float32, buffer=nl.psum)
    for k, stationary in enumerate(x):
        moving = sbuf((DEPTH, WORDS), w.dtype)
        nisa.dma_copy(dst=moving, src=w[k * DEPTH:(k + 1) * DEPTH, b * WORDS:(b + 1) * WORDS])
        nisa.nc_matmul(dst=logits, stationary=stationary, moving=moving)
    # tanh of the scaled logits; z itself is cap times that, folded into the steps that use it.
    capped = sbuf((TOKENS, WORDS))
    nisa.activation(dst=capped, op=nl.tanh, data=logits, scale=1.0 / cap)
    words = sbuf((TOKENS, WORDS))
    nisa.iota(dst=words, pattern=[[1, WORDS]], offset=b * WORDS, channel_multiplier=0)
    hits = sbuf((TOKENS, WORDS))
    nisa.scalar_tensor_tensor(dst=hits, data=words, op0=nl.equal, operand0=wanted, op1=nl.multiply, operand1=capped)
    nisa.tensor_reduce(dst=block_pick, op=nl.add, data=hits, axis=1)
    powers, floor = sbuf((TOKENS, WORDS)), sbuf((TOKENS, 1))
    nisa.memset(dst=floor, value=-cap)
    nisa.activation_reduce(dst=powers, op=nl.exp, data=capped, scale=cap, bias=floor, reduce_op=nl.add,
                           reduce_res=block_sum)


def finish(loss, here, sums, picks, cap):
    total, picked = sbuf((TOKENS, 1)), sbuf((TOKENS, 1))
    nisa.tensor_reduce(dst=total, op=nl.add, data=sums, axis=1)
    nisa.tensor_reduce(dst=picked, op=nl.add, data=picks, axis=1)
    logarithm, result = sbuf((TOKENS, 1)), sbuf((TOKENS, 1))
    nisa.activation(dst=logarithm, op=nl.log, data=total)
    nisa.scalar_tensor_tensor(dst=result, data=picked, op0=nl.multiply, operand0=-cap, op1=nl.add, operand1=logarithm)
    nisa.tensor_scalar(dst=result, data=result, op0=nl.add, operand0=cap)
    nisa.dma_copy(dst=loss[here, :], src=result)
