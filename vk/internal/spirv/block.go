package spirv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// pushConstants reads the words of the push-constant block, if there is one, and of the blocks to which it refers.
func (p *parser) pushConstants() error {
	if p.push == 0 {
		return nil
	}
	push, references := p.block(p.push)
	if push.Err != nil {
		return fmt.Errorf("its push constants: %w", push.Err)
	}
	p.Push, p.PushBytes = push.Words, push.Bytes
	for at, to := range references {
		if p.Blocks == nil {
			p.Blocks = map[int]Block{}
		}
		p.Blocks[at], _ = p.block(to)
	}
	return nil
}

// mostVisits is the most calls of flatten for one block. Push constants have a few hundred bytes, and parsing a damaged
// module must not take long.
const mostVisits = 1024

// block returns the words of a block's type, and the types to which its buffer references point, by their offsets.
func (p *parser) block(id uint32) (Block, map[int]uint32) {
	p.words, p.references, p.visits = nil, map[int]uint32{}, 0
	var b Block
	b.Bytes, b.Err = p.flatten(id, 0, "", 0)
	slices.SortFunc(p.words, func(a, b Word) int { return a.Offset - b.Offset })
	b.Words = p.words
	return b, p.references
}

// flatten adds the words of a value at an offset, and returns the value's size.
func (p *parser) flatten(id uint32, offset int, name string, stride uint32) (int, error) {
	if p.visits++; p.visits > mostVisits {
		return 0, errors.New("they are too large, or a type contains itself")
	}
	n := p.nodes[id]
	scalar := func(width uint32, kind Kind) (int, error) {
		switch width {
		case 32:
			p.words = append(p.words, Word{offset, name, kind})
			return 4, nil
		case 64:
			if kind == Float {
				return 0, fmt.Errorf("%s is a 64-bit float, which is not supported", name)
			}
			p.words = append(p.words, Word{offset, name, Low}, Word{offset + 4, name, High})
			return 8, nil
		}
		return 0, fmt.Errorf("%s has %d bits, which is not supported", name, width)
	}
	repeat := func(element uint32, count, step int, indexed bool) (int, error) {
		end := 0
		for i := range count {
			at := step * i
			if step == 0 {
				at = end
			}
			full := name
			if indexed {
				full = fmt.Sprintf("%s[%d]", name, i)
			}
			size, err := p.flatten(element, offset+at, full, 0)
			if err != nil {
				return 0, err
			}
			end = at + size
		}
		return end, nil
	}
	switch n.op {
	case opTypeInt:
		return scalar(n.args[0], Integer)
	case opTypeFloat:
		return scalar(n.args[0], Float)
	case opTypePointer: // a buffer reference
		p.references[offset] = n.last()
		return scalar(64, Integer)
	case opTypeVector:
		return repeat(n.args[0], int(n.args[1]), 0, false) // an address is a uvec2 and has one name
	case opTypeMatrix:
		return repeat(n.args[0], int(n.args[1]), int(stride), true)
	case opTypeArray:
		size, err := repeat(n.args[0], int(p.nodes[n.args[1]].last()), int(p.strides[id]), true)
		return max(size, int(p.nodes[n.args[1]].last())*int(p.strides[id])), err
	case opTypeStruct:
		end := 0
		for i, t := range n.args {
			m := member{id, uint32(i)}
			at := int(p.offsets[m])
			full := strings.TrimPrefix(name+"."+p.memberNames[m], ".")
			size, err := p.flatten(t, offset+at, full, p.matrixStrides[m])
			if err != nil {
				return 0, err
			}
			end = max(end, at+size)
		}
		return end, nil
	}
	return 0, fmt.Errorf("%s has a type (instruction %d) that is not supported", name, n.op)
}
