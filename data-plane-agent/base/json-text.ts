declare const OF: unique symbol;

/** JSON text of a value of type `T`. */
export type JsonText<T> = string & { readonly [OF]?: T };

export const jsonTextOf = <T>(value: T): JsonText<T> => JSON.stringify(value);

export const valueIn = <T>(text: JsonText<T>): T => JSON.parse(text) as T; // the text was made of a `T`

/** An object with the properties of both texts: of objects that have at least one property, and none in common. */
export const joined = <A extends object, B extends object>(a: JsonText<A>, b: JsonText<B>): JsonText<A & B> =>
  `${a.slice(0, -1)},${b.slice(1)}`;
