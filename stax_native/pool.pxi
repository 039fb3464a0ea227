# Memory of outputs and arenas: blocks by size class, returned and used again.
#
# A fresh output of 8 MiB costs three to six times a reused one, all of it page faults. So freed
# blocks are kept, up to a limit, and the least recently freed go back to the system first.
# Everything here runs under the GIL, which is its lock.

cdef extern from "sys/mman.h" nogil:
    int madvise(void *address, size_t length, int advice)
    int MADV_HUGEPAGE

cdef enum:
    CACHE_LINE = 64
    HUGE_PAGE = 2 << 20
    HUGE_FROM = 1 << 20       # blocks of this size and more are whole huge pages
    SIZE_CLASSES = 256        # four per power of two: at most a fifth of a block is unused


# The head of a block that lies in the pool, written into the block itself.
cdef struct FreeBlock:
    size_t size
    FreeBlock *newer          # neighbours in the order of freeing
    FreeBlock *older
    FreeBlock *above          # neighbours in the stack of this size class
    FreeBlock *below


cdef struct Pool:
    FreeBlock *top[SIZE_CLASSES]
    FreeBlock *newest
    FreeBlock *oldest
    size_t limit
    size_t cached_bytes
    size_t cached_blocks
    size_t live_bytes
    size_t live_blocks
    size_t hits
    size_t misses


cdef Pool pool
memset(&pool, 0, sizeof(Pool))
pool.limit = 512 << 20
cdef bint poison_new_memory = False


cdef size_t block_size(size_t nbytes) noexcept nogil:
    """Bytes rounded up to a size class: whole cache lines, from 1 MiB on whole huge pages."""
    cdef size_t step
    nbytes = max(nbytes, <size_t>1)
    step = max(<size_t>CACHE_LINE, (<size_t>1 << (63 - __builtin_clzll(nbytes))) >> 2)
    nbytes = (nbytes + step - 1) // step * step
    if nbytes >= HUGE_FROM:
        nbytes = (nbytes + HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE
    return nbytes


cdef int size_class(size_t size) noexcept nogil:
    """Number of the class of a size that ``block_size`` gave."""
    cdef int log = 63 - __builtin_clzll(size)
    return log * 4 + <int>((size >> (log - 2)) & 3)


cdef void pool_unlink(FreeBlock *block) noexcept nogil:
    cdef int number = size_class(block.size)
    if block.above:
        block.above.below = block.below
    else:
        pool.top[number] = block.below
    if block.below:
        block.below.above = block.above
    if block.newer:
        block.newer.older = block.older
    else:
        pool.newest = block.older
    if block.older:
        block.older.newer = block.newer
    else:
        pool.oldest = block.newer
    pool.cached_bytes -= block.size
    pool.cached_blocks -= 1


cdef void pool_shrink(size_t limit) noexcept nogil:
    """Give the longest unused blocks back to the system until `limit` bytes are left."""
    cdef FreeBlock *block
    while pool.cached_bytes > limit:
        block = pool.oldest
        pool_unlink(block)
        free(block)


cdef void *system_block(size_t size) noexcept nogil:
    cdef void *data = NULL
    cdef size_t alignment = HUGE_PAGE if size >= HUGE_FROM else CACHE_LINE
    if posix_memalign(&data, alignment, size):
        return NULL
    if size >= HUGE_FROM:
        madvise(data, size, MADV_HUGEPAGE)  # a wish: where it is refused, pages are small
    return data


cdef void *pool_take(size_t size) noexcept nogil:
    """A block of a size that ``block_size`` gave; NULL when the system has no more memory."""
    cdef FreeBlock *block = pool.top[size_class(size)]
    cdef void *data = <void *>block
    if block:
        pool_unlink(block)
        pool.hits += 1
    else:
        pool.misses += 1
        data = system_block(size)
        if not data:
            pool_shrink(0)
            data = system_block(size)
            if not data:
                return NULL
    pool.live_bytes += size
    pool.live_blocks += 1
    return data


cdef void pool_give(void *data, size_t size) noexcept nogil:
    cdef FreeBlock *block = <FreeBlock *>data
    cdef int number = size_class(size)
    pool.live_bytes -= size
    pool.live_blocks -= 1
    if size > pool.limit:
        free(data)
        return
    pool_shrink(pool.limit - size)
    block.size = size
    block.above = NULL
    block.below = pool.top[number]
    if block.below:
        block.below.above = block
    pool.top[number] = block
    block.newer = NULL
    block.older = pool.newest
    if block.older:
        block.older.newer = block
    else:
        pool.oldest = block
    pool.newest = block
    pool.cached_bytes += size
    pool.cached_blocks += 1


@cython.final
@cython.freelist(32)
cdef class PoolBlock:
    """Memory from the pool, aligned to 64 bytes; it returns to the pool with its last reference.

    Large outputs have such a block as their ``base``. ``size`` is its length in bytes.
    """
    cdef void *data
    cdef readonly size_t size

    def __init__(self):
        raise TypeError("PoolBlock comes from the pool of the runtime, not from a call")

    def __dealloc__(self):
        if self.data:
            pool_give(self.data, self.size)


cdef PoolBlock take_block(size_t nbytes):
    cdef PoolBlock block = PoolBlock.__new__(PoolBlock)
    cdef size_t size
    if nbytes > <size_t>PY_SSIZE_T_MAX:
        raise MemoryError(f"Stax cannot allocate {nbytes} bytes")
    size = block_size(nbytes)
    block.data = pool_take(size)
    if not block.data:
        raise MemoryError(
            f"Stax cannot allocate {nbytes} bytes; {pool.live_bytes} bytes of its memory are in use"
        )
    block.size = size
    if poison_new_memory:
        memset(block.data, 0xFF, size)
    return block


def pool_stats():
    """Counters of the memory pool.

    Returns:
        dict of int: ``live_bytes`` and ``live_blocks`` in use by arrays and calls,
        ``cached_bytes`` and ``cached_blocks`` kept for the next call, ``limit`` of the cached
        bytes, ``hits`` and ``misses`` of the requests so far.
    """
    return {
        "live_bytes": pool.live_bytes,
        "live_blocks": pool.live_blocks,
        "cached_bytes": pool.cached_bytes,
        "cached_blocks": pool.cached_blocks,
        "limit": pool.limit,
        "hits": pool.hits,
        "misses": pool.misses,
    }


def pool_trim(size_t keep=0):
    """Give cached blocks back to the system until at most `keep` bytes are cached."""
    pool_shrink(keep)


def set_pool_limit(size_t limit):
    """Set how many bytes of freed memory the pool keeps (at first 512 MiB)."""
    pool.limit = limit
    pool_shrink(limit)


def set_poison(bint on):
    """Fill new outputs and arenas with 0xFF bytes (NaN, -1) before a call: a test of the plans.

    A result that depends on memory nobody wrote then shows itself.
    """
    global poison_new_memory
    poison_new_memory = on
