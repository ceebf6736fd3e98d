// Package typescript converts TypeScript declarations to a JSON Schema, with keys in
// the order in which they are declared.
//
// The schema describes what JSON.stringify writes for a value of the type, without
// undeclared properties: object types are closed, as for an object literal that is
// assigned to them.
//
// # Supported declarations
//
// A file of declarations, each with or without export, default and declare:
//
//	interface Name<T> extends Base, Other<T> { … }
//	type Name<T = string> = …;
//	enum Name { A, B = 4, C = "c" }      // and const enum
//
// Members of an object type or interface:
//
//	name: T;  "quoted-name"?: T;  readonly name: T;
//	[key: string]: T;                    // becomes additionalProperties
//	[key: `x-${string}`]: T;             // becomes patternProperties
//	[K in "a" | "b"]?: T                 // a mapped type over known names
//
// Types:
//
//	string number boolean bigint null any unknown never object Date
//	"literal" 42 -1 true `v${number}.${string}` Enum.Member
//	T[]  readonly T[]  Array<T>  ReadonlyArray<T>  Set<T>
//	[A, b?: B, ...C[]]
//	A | B    A & B    ( … )    { … }
//	Record<K, V>  Partial<T>  Required<T>  Readonly<T>  NonNullable<T>
//	Pick<T, K>  Omit<T, K>  Exclude<T, U>  Extract<T, U>
//	keyof T  T["name"]
//
// bigint is an integer, Date a string of format date-time, Set an array of unique
// items. A property whose type includes undefined is optional. An intersection of
// object types is merged into one object type, and is distributed over unions.
// Everything else (functions, methods, classes, conditional types, typeof, infer,
// import, namespace) is an error with line and column.
//
// # Comments
//
// A /** … */ comment before a declaration or a member becomes its description.
// These tags in it become keywords: @title, @format, @pattern, @minimum,
// @maximum, @exclusiveMinimum, @exclusiveMaximum, @multipleOf, @minLength,
// @maxLength, @minItems, @maxItems, @minProperties, @maxProperties,
// @uniqueItems, @default, @deprecated, and @integer (also @asType integer).
// A line may have several. Other tags are ignored.
//
// # Limits
//
// The source has at most 1 MiB, the schema 8 MiB. Types are nested at most 200 deep in
// the source and 1000 deep with the names in them followed. Short declarations can stand
// for huge types, so the steps that it takes to resolve them are limited too, to a
// million. Each limit is an error with line and column.
//
// # Why not a library
//
// The parsers of TypeScript in Go, those of esbuild and of Microsoft's own port, are
// internal packages; tree-sitter's is C. The declarations above are a small part of the
// language, and whatever else there is has to be an error.
package typescript
