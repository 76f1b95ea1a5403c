package slabs

// Handle is the part of a public handle that holds its pool. A type of ours that embeds it is accepted by Of, and users
// cannot reach the pool.
type Handle struct{ pool *Pool }

// HandleOf returns the handle of a pool.
func HandleOf(p *Pool) Handle { return Handle{p} }

func (h Handle) core() *Pool { return h.pool }

// Of returns the pool of a handle, which must not be a nil pointer; nil if the handle is not open.
func Of(handle interface{ core() *Pool }) *Pool { return handle.core() }
