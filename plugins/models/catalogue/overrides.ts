/**
 * The operator's entry for a `provider/model`: under the name itself, else under the longest name that ends in `*` and begins
 * like it.
 */
export function findOverride<T>(
  overrides: Readonly<Record<string, T>>,
): (name: string) => { readonly key: string; readonly value: T } | undefined {
  const patterns = Object.keys(overrides)
    .filter((key) => key.endsWith('*'))
    .sort((a, b) => b.length - a.length)
  return (name) => {
    const key = Object.hasOwn(overrides, name)
      ? name
      : patterns.find((pattern) => name.startsWith(pattern.slice(0, -1)))
    return key === undefined ? undefined : { key, value: overrides[key]! }
  }
}
