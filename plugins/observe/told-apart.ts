/** Values of a dimension that one user's traces of a day are told apart by. */
const mostValues = 200

/** Users and days that are remembered. */
const mostHolders = 10_000

/** Stands for all values beyond. */
export const others = '(other)'

/**
 * Tells values of a dimension apart as long as a user has not too many in a day. Names of models and projects are what a
 * client makes up, and each that is told apart is a cell that is kept for good and a line in every answer.
 */
export function createTeller(): (holder: string, dimension: string, value: string) => string {
  const known = new Map<string, Set<string>>()
  return (holder, dimension, value) => {
    const name = `${holder}\n${dimension}`
    let values = known.get(name)
    if (!values) {
      if (known.size === mostHolders) known.clear()
      values = new Set()
      known.set(name, values)
    }
    if (values.has(value)) return value
    if (values.size === mostValues) return others
    values.add(value)
    return value
  }
}
