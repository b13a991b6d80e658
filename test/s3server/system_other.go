//go:build !linux

package s3server

import "syscall"

func diesWithUs() *syscall.SysProcAttr { return nil }
