export type Environment = Readonly<Record<string, string | undefined>>

/** `$${` for a literal `${`, a whole reference, or the beginning of something that is none. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g

/**
 * Puts the environment into a text: `${NAME}`, or `${NAME:-default}` where NAME may be unset or empty; `$${` stays a literal
 * `${`. Values are put in as they are, without a second pass. `problem` names the references that have no value.
 */
export function expand(text: string, env: Environment): { value: string; problem?: string } {
  const problems: string[] = []
  const value = text.replace(reference, (found: string, name?: string, fallback?: string) => {
    if (found === '$${') return '${'
    if (name === undefined) {
      problems.push(`expected \${NAME} or \${NAME:-default}; write $\${ for the characters themselves`)
      return ''
    }
    const known = env[name]
    if (fallback !== undefined) return known || fallback
    if (known === undefined) problems.push(`${name} is not set; set it, or write \${${name}:-default}`)
    return known ?? ''
  })
  return problems[0] === undefined ? { value } : { value, problem: problems[0] }
}
