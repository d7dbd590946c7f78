/** Resolves as the work does, or throws after so many milliseconds; its later result is ignored. */
export async function inTime<T>(work: Promise<T> | T, ms: number, does: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${does} took longer than ${ms / 1000} seconds`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
