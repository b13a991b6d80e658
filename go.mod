module locksmith

go 1.26
