import { Call, Cancel, type Generation } from '#kernel'
import { dryRun } from '#kit'

/**
 * The call as the modules of the stage `route` will change it that stand behind the asker and are pure: aliases and rules. The call
 * itself, its trace included, stays as it is. Undefined when one of them refuses it.
 */
export async function ledCall(
  call: Call,
  entries: Generation['entries'],
  asker: string | undefined,
): Promise<Call | undefined> {
  const behind = entries.slice(entries.findIndex(({ id }) => id === asker) + 1)
  const leading = behind.filter(({ stage, hooks }) => stage === 'route' && hooks.pure && hooks.request)
  if (leading.length === 0) return call
  const copy = new Call({ ...call, cancel: new Cancel(), trace: call.trace.aside() })
  const steps = await dryRun(leading, copy)
  if (steps.some(({ outcome }) => outcome === 'refuses')) return undefined
  const { request, context } = steps.at(-1)!.after
  return call.with({ request, context })
}
