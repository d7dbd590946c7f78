import { type Call, type Context, isGatewayError } from '#kernel'
import type { Approved, Position } from './injection.ts'
import type { Passage } from './library/index-of-collection.ts'

/**
 * The passages as the guards let them pass, in their order, without those that a guard refuses. Guards see each with its title and
 * its headings, as these are written by the same hand.
 */
export async function guarded(
  { inspect }: Pick<Context<unknown>, 'inspect'>,
  call: Call,
  passages: readonly Passage[],
  role: Position,
): Promise<readonly Approved[]> {
  const approved: Approved[] = []
  for (const { document, chunk, title, path, text } of passages) {
    const whole = `${[title, ...path].join(' › ')}\n${text}`
    try {
      const [seen] = await inspect(call, [{ role, text: whole }])
      if (seen) approved.push({ document, chunk, text: seen })
    } catch (error) {
      if (!isGatewayError(error)) throw error
    }
  }
  return approved
}
