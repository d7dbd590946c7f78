/** Whether an object is one of fields alone, as a literal or JSON makes it, and no instance of a class. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
