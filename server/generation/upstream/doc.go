// Package upstream generates the texts of models behind upstream APIs.
package upstream
