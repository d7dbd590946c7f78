/** What a read gives; undefined where it throws: for what others wrote and may have written wrong. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
