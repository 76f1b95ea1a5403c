package serve

// matches reports whether a text matches a pattern of Redis: * stands for any bytes, ? for one, [a-c] and [^a-c] for
// one of a set, and \ takes the next byte as it is. Only the last * is tried anew, so that no pattern takes more steps
// than the product of both lengths.
func matches(pattern, text string) bool {
	star, from := -1, 0 // what comes after the last *, and the text that it is tried on
	p, t := 0, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, t
			continue
		}
		if p < len(pattern) {
			if ok, after := matchesByte(pattern, p, text[t]); ok {
				p, t = after, t+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		p, t = star, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchesByte compares a byte with what the pattern has at p, and returns where the pattern goes on.
func matchesByte(pattern string, p int, b byte) (ok bool, after int) {
	switch {
	case pattern[p] == '?':
		return true, p + 1
	case pattern[p] == '[':
		return matchesSet(pattern, p+1, b)
	case pattern[p] == '\\' && p+1 < len(pattern):
		p++
	}
	return pattern[p] == b, p + 1
}

// matchesSet compares a byte with the set that begins at p. As in Redis, a set without its end has all that follows.
func matchesSet(pattern string, p int, b byte) (ok bool, after int) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		low, high := pattern[p], pattern[p]
		switch {
		case low == '\\' && p+1 < len(pattern):
			p++
			low, high = pattern[p], pattern[p]
		case p+2 < len(pattern) && pattern[p+1] == '-':
			low, high = min(low, pattern[p+2]), max(low, pattern[p+2])
			p += 2
		}
		ok = ok || low <= b && b <= high
	}
	return ok != not, min(p+1, len(pattern))
}
