import type { ModelRequest } from '../canonical/forms.ts'

/**
 * How many answers a request has made, at least one: for each of its prompts as many as `n` asks for, or `best_of` where more of them
 * compete. A service bills the tokens of all of them, also of those that it does not return.
 */
export function answerCount({ prompt, n, best_of: competing }: ModelRequest): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
  return Math.max(1, prompts) * Math.max(1, n ?? 1, typeof competing === 'number' ? competing : 1)
}
