// The Go compiler takes functions without a body (see go:linkname in proxies_test.go) only in a package that has such a file.
