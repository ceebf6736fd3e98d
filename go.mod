module stencil

go 1.26
