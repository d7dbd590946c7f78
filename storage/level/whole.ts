/** The sum of two whole numbers; it ends where whole numbers do, so that no sum is beyond being added to. */
export function addUp(a: number, b: number): number {
  const sum = a + b
  if (sum > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER
  return sum < Number.MIN_SAFE_INTEGER ? Number.MIN_SAFE_INTEGER : sum
}
