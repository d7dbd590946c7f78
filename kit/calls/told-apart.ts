/** Most values of a dimension that one user's traces of a day have cells for. */
const mostValues = 200

/** Users and days that are remembered. */
const mostHolders = 10_000

/** Stands for all values beyond. */
export const others = '(other)'

/**
 * Keeps values of a dimension distinct as long as a user has not too many in a day. Clients make up names of models and
 * projects, and each distinct one is a cell that is kept for good and a line in every answer.
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
