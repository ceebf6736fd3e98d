// Package stored keeps the responses of POST /v1/responses, so that a conversation can go on where one of them ended.
package stored
