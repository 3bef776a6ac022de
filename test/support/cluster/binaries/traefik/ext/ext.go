// Package ext is where Traefik's configuration can be extended: with nothing, as in Traefik itself.
package ext

type HTTP struct{}

type Router struct{}
