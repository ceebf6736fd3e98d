/**
 * What is for sale.
 */
export interface Product<Tag extends string = string> extends Entity {
  readonly name: string;
  /** @minimum 0 */
  price: number
  tags?: Tag[];
  "in-stock": boolean,
  /** Overrides the key of {Entity}. @pattern is no tag here */
  id: `P${bigint}`;
}

interface Entity { id: string; created: Date }

enum Currency { EUR = "EUR", USD = "USD" }
const enum Level { Low, Middle, High = 10, Top }

type Node = { value: Level; children: Node[]; parent?: Partial<Node> | null };

type Shape =
  | { kind: "circle"; /** @exclusiveMinimum 0 */ radius: number }
  | { kind: "square"; side: number };

type Page<T> = { items: T[]; next?: Page<T> };

/**
 * An order.
 * It has lines.
 *
 * @title Order
 * @unknownTag
 * ignored
 */
export type Order = {
  /** @integer
   * @minimum 1
   * @default 1 */
  quantity: number;
  product: Product<"new" | "used">;
  other: Omit<Product, "price" | "tags"> | undefined;
  currency: Currency | null;
  euro: Currency.EUR;
  tree: Node;
  shapes: [first: Shape, ...more: Shape[]];
  pages: Page<Shape>;
  labels: Record<string, string | number>;
  /** @format email */
  contact: string;
  again?: Order;
}
