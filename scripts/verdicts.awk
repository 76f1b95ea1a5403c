# Of what a test binary prints with -test.v, passes on what it prints without, and adds to files which tests were skipped
# on this driver, and why, and how many seconds each took: of tests that pass go test shows nothing.
/^=== / { current = $3; next }
/^(PASS|FAIL)$/ { print; next }
/^ *--- (PASS|SKIP|FAIL): / {
    name = $3
    if ($2 == "SKIP:") print folder ": " name ": " why[name] "\t" driver >>skipped
    if ($2 == "FAIL:") printf "%s\n%s", $0, text[name]
    delete text[name]
    if (/^---/) printf "%s\t%s: %s\t%s\n", substr($4, 2, length($4) - 3), folder, name, driver >>took
    next
}
{
    text[current] = text[current] $0 "\n"
    if (/^ +[a-z0-9_]+_test\.go:[0-9]+: /) why[current] = substr($0, index($0, ": ") + 2)
}
END { for (name in text) printf "%s", text[name] }   # of what has no verdict: a panic
