package ftp

// dontWait is not needed here.
const dontWait = 0
