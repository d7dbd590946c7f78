/** The problem of a form, by the RangeError that reading it throws; undefined for a sound one. */
export function formProblem(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return error.message
    throw error
  }
}
