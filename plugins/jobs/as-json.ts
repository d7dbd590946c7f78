/** A value as it is when it comes back from the disk, so that code sees the same before and after. Throws when it is no JSON. */
export function asJson<T>(value: T): T {
  const text = JSON.stringify(value)
  return text === undefined ? (undefined as T) : JSON.parse(text)
}
