/**
 * The value of a key, made at first use. Of more than `most` keys the one that was made longest ago goes, so that names that
 * clients choose do not fill the memory.
 */
export function ensure<K, V>(
  map: Map<K, V>,
  key: K,
  create: () => V,
  most: number = Number.POSITIVE_INFINITY,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  for (const oldest of map.keys()) {
    if (map.size < most) break
    map.delete(oldest)
  }
  const made = create()
  map.set(key, made)
  return made
}
