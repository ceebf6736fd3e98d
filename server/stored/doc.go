// Package stored stores the responses of POST /v1/responses, so that later requests can continue them, and conversations.
package stored
