/** The sum of two whole numbers; it ends where whole numbers do, so that no sum is beyond being added to. */
export const addUp = (a: number, b: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(a + b, Number.MAX_SAFE_INTEGER))
