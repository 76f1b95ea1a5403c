# Of what a test binary prints with -test.v, passes on what it prints without, and writes into a file what became of each
# test, a line each: ran or skipped, the seconds that it took, its folder and name, the driver, and why it was skipped.
# A package that leaves tests to other passes says so in a line.
# (Of tests that pass go test shows nothing.)
/^=== / { current = $3; next }
/^left to other passes: / { printf "skipped\t0\t%s: some tests or all\t%s\t%s\n", folder, driver, $0 >verdicts }
/^(PASS|FAIL)$/ { print; next }
/^ *--- (PASS|SKIP|FAIL): / {
    name = $3
    if ($2 == "FAIL:") printf "%s\n%s", $0, text[name]
    delete text[name]
    printf "%s\t%s\t%s: %s\t%s\t%s\n", $2 == "SKIP:" ? "skipped" : "ran", substr($4, 2, length($4) - 3), folder, name,
        driver, why[name] >verdicts
    next
}
{
    text[current] = text[current] $0 "\n"
    if (/^ +[a-z0-9_]+_test\.go:[0-9]+: /) why[current] = substr($0, index($0, ": ") + 2)
}
END { for (name in text) printf "%s", text[name] }   # of what has no verdict: a panic
