import type { Call, Completion, Next, Reply } from '#kernel'
import { collect, detach } from '#kit'

/** The whole answer of one of the models. */
export interface Answered {
  readonly model: string
  readonly reply: Reply
  readonly body: Completion
}

/** Why a model is not waited for any more. */
const notNeeded = new Error('the answers of other models are enough')

/**
 * Asks all models at a time and collects what they answer, in their order, until all have answered or failed, or there is enough.
 * Connections of those that are not needed are closed. Rejects when all fail, as the first of them did.
 */
export function gather(
  call: Call,
  models: readonly string[],
  next: Next,
  isEnough: (answers: readonly Answered[]) => boolean = () => false,
): Promise<readonly Answered[]> {
  return new Promise((resolve, reject) => {
    const parts = models.map(() => call.cancel.child())
    const answers: (Answered | undefined)[] = models.map(() => undefined)
    const failures: unknown[] = []
    let left = models.length
    let isOver = false
    const end = (): void => {
      left -= 1
      const there = answers.filter((one) => one !== undefined)
      if (isOver || (left > 0 && !(there.length > 0 && isEnough(there)))) return
      isOver = true
      for (const { cancel, release } of parts) {
        cancel.abort(notNeeded)
        release()
      }
      if (there.length > 0) resolve(there)
      else reject(failures.find((failure) => failure !== undefined))
    }
    const ask = async (model: string, i: number): Promise<void> => {
      try {
        const reply = await next(call.withRequest({ model }).with({ cancel: parts[i]!.cancel }))
        answers[i] = { model, reply, body: await collect(reply) }
      } catch (error) {
        failures[i] = error
      }
      end()
    }
    for (const [i, model] of models.entries()) detach('a call of several', ask(model, i))
  })
}
