import type { Awaitable } from '#kernel'

/** An answer of the first thread; rejects if counting is off there, as while it is being switched off. */
export const surely = <T>(answer: T | Promise<T | undefined>): Awaitable<T> =>
  answer instanceof Promise ? answer.then(demanded) : answer

function demanded<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Error('The plugin counting is switched off')
  return answer
}
