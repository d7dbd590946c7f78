import { type Call, type GatewayError, isGatewayError, isUpstreamError, type Next, type Reply } from '#kernel'
import { explainNext } from '#kit'
import { isBarred, isWorthMoving, reasonOf } from './verdict.ts'

/**
 * Tries models one after the other until one answers. Rejects with what the last of them said; when they are all shut
 * off, with the one that comes back soonest.
 */
export async function tryEach(models: readonly string[], call: Call, next: Next): Promise<Reply> {
  const failures: { readonly model: string; readonly error: GatewayError }[] = []
  for (const model of models) {
    try {
      const reply = await next(model === call.request.model ? call : call.withRequest({ model }))
      if (model !== models[0] || model !== call.request.model) decide(call, model, failures, models)
      return reply
    } catch (error) {
      if (!isGatewayError(error) || !mayMove(error, failures.length > 0)) throw error
      call.cancel.check()
      failures.push({ model, error })
      if (model !== models.at(-1)) explainNext(call, error, 'another target')
    }
  }
  throw final(failures.map(({ error }) => error))
}

/**
 * A refusal by the gateway itself is one of the call at the first target, and only of the target at the others; that modules keep
 * a call from its target is only of the target everywhere.
 */
const mayMove = (error: GatewayError, hasMoved: boolean): boolean =>
  isWorthMoving(error) || isBarred(error) || (hasMoved && !isUpstreamError(error))

/** What a target said outweighs that another one was barred: the client may try again. */
function final(all: readonly GatewayError[]): GatewayError {
  const tried = all.filter((error) => !isBarred(error))
  const errors = tried.length > 0 ? tried : all
  const isShut = (error: GatewayError): boolean => error.code === 'circuit_open'
  const waitOf = ({ retryAfterS }: GatewayError): number => retryAfterS ?? 0
  return errors.every(isShut) ? errors.reduce((a, b) => (waitOf(b) < waitOf(a) ? b : a)) : errors.at(-1)!
}

function decide(
  call: Call,
  chosen: string,
  failures: readonly { readonly model: string; readonly error: GatewayError }[],
  considered: readonly string[],
): void {
  const reasons = failures.map(({ model, error }) => `${model}: ${reasonOf(error)}`)
  call.trace.decide({
    kind: 'target',
    chosen,
    reason: reasons.join(', ') || 'first of its chain',
    considered,
  })
}
