import type { Call, Context } from '#kernel'

/**
 * The call as it goes to a place where it has not been tried yet: the first that its caller can use and modules let it take.
 * Undefined when there is none, or when the call has gone nowhere so far.
 */
export async function elsewhere(
  call: Call,
  models: readonly string[],
  targets: Context<unknown>['targets'],
): Promise<Call | undefined> {
  const tried = new Set(call.trace.attempts.map(({ provider, model }) => `${provider}/${model}`))
  if (tried.size === 0) return undefined
  for (const name of models) {
    for (const { provider, model } of await targets(call.withRequest({ model: name }))) {
      if (tried.has(`${provider}/${model}`)) continue
      return call.withRequest({ model }).with({ context: { ...call.context, provider } })
    }
  }
  return undefined
}
