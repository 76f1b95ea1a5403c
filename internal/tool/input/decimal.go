package input

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// mostDigits is the greatest number of digits of Arrow's decimals, before or after the point.
const mostDigits = 76

// known reports whether a scale is valid: the number of digits after the point, or if negative, of zeros before it.
func known(scale int32) bool { return scale >= -mostDigits && scale <= mostDigits }

// decimal returns the value of n / 10^scale, as Parse does for a text. If the column's type was guessed, the value must
// be exact: the shortest digits of a float must be those of the decimal.
func (c *column) decimal(n *big.Int, scale int) (keytype.Value, error) {
	if n.IsInt64() && c.Type != keytype.Text {
		const most, mostPower = 1e15, 22 // floats have all integers up to most, and 10 to powers up to mostPower
		switch small := n.Int64(); {
		case scale == 0:
			return c.integer(small)
		case scale > 0 && scale <= mostPower && c.Type == keytype.Float64 && small > -most && small < most:
			return c.float(float64(small) / math.Pow10(scale)) // one rounding
		}
	}
	text := decimalText(n.String(), scale)
	if c.Type == keytype.Text {
		return c.text([]byte(text))
	}
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	v, err := c.Parse(text)
	if err == nil && c.Any && c.Type == keytype.Float64 {
		if x, _ := strconv.ParseFloat(text, 64); strconv.FormatFloat(x, 'f', -1, 64) != text {
			if err = fmt.Errorf("%s %w", text, ErrDigits); c.Flag != "" {
				err = fmt.Errorf("%w (%s text reads it)", err, c.Flag)
			}
		}
	}
	return v, err
}

// decimalText returns an integer's digits with a point before the last scale of them.
func decimalText(digits string, scale int) string {
	digits, negative := strings.CutPrefix(digits, "-")
	switch {
	case scale > 0:
		digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	case digits != "0":
		digits += strings.Repeat("0", -scale)
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// signed returns the integer of bytes in two's complement, the most significant one first.
func signed(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}
