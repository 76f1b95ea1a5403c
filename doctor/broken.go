package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	// leastMesa is the first release of Mesa with a lavapipe that does all that vkds relies on.
	leastMesa = 25
	// leastLLVM is the first such release of LLVM on 64-bit Arm. With the same Mesa, kernels of ranges omit pairs with
	// LLVM 15, but not with 19. The releases in between were not tried.
	leastLLVM = 19
)

var (
	mesaRelease = regexp.MustCompile(`Mesa (\d+)\.`)
	llvmRelease = regexp.MustCompile(`LLVM (\d+)\.`)
)

// knownBroken returns a warning if a driver is known to give wrong results on the machine's architecture, even if no
// test finds them. It knows the driver by its description (vk.Info.Driver). Otherwise it returns "".
func knownBroken(driver, architecture string) string {
	if !strings.Contains(strings.ToLower(driver), "llvmpipe") {
		return ""
	}
	if release := before(driver, mesaRelease, leastMesa); release != "" {
		return fmt.Sprintf("This is lavapipe of Mesa %s: before Mesa %d it miscompiles atomics in loops and ends any "+
			"loop after 65,535 iterations. "+
			"Install Mesa %d or newer (on Debian 12 from bookworm-backports).", release, leastMesa, leastMesa)
	}
	if release := before(driver, llvmRelease, leastLLVM); architecture == "arm64" && release != "" {
		return fmt.Sprintf("This is lavapipe with LLVM %s on 64-bit Arm: with LLVM 15 there, ranges of keys come with "+
			"pairs missing, and those before %d were not tried. Install a Mesa that is built with LLVM %[2]d or newer "+
			"(Debian 13 has one).", release, leastLLVM)
	}
	return ""
}

// before returns the release in a driver's description if it is older than least; otherwise "".
func before(driver string, release *regexp.Regexp, least int) string {
	found := release.FindStringSubmatch(driver)
	if found == nil {
		return ""
	}
	if major, err := strconv.Atoi(found[1]); err != nil || major >= least {
		return ""
	}
	return found[1]
}
