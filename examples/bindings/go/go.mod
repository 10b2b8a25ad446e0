module certreg

go 1.19
