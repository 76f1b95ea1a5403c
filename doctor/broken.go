package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// leastMesa is the first release of Mesa whose lavapipe does all that vkds relies on.
const leastMesa = 25

var mesaRelease = regexp.MustCompile(`Mesa (\d+)\.`)

// knownBroken returns a warning where a driver, by what it says of itself (vk.Info.Driver), is known to give
// wrong results whatever the tests happen to see; "" where not.
func knownBroken(driver string) string {
	if !strings.Contains(strings.ToLower(driver), "llvmpipe") {
		return ""
	}
	release := mesaRelease.FindStringSubmatch(driver)
	if release == nil {
		return ""
	}
	if major, err := strconv.Atoi(release[1]); err != nil || major >= leastMesa {
		return ""
	}
	return fmt.Sprintf("This is lavapipe of Mesa %s: before Mesa %d it miscompiles atomics in loops and ends any "+
		"loop after 65,535 iterations. "+
		"Install Mesa %d or newer (on Debian 12 from bookworm-backports).", release[1], leastMesa, leastMesa)
}
