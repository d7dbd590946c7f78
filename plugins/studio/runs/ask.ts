import { setTimeout as passes } from 'node:timers/promises'
import { type Context, isGatewayError, type ModelRequest } from '#kernel'
import { answeringFromMemory, answerTexts, type CallBudget, callProblem, collect, mayPass } from '#kit'
import type { RunRow } from './rows.ts'

/** In whose name a run asks, on which account, and until when. */
export interface Asking {
  readonly call: Context<unknown>['call']
  readonly run: Pick<RunRow, 'id' | 'of' | 'principal' | 'ip' | 'project'> & {
    readonly kind: RunRow['kind'] | 'snapshot'
  }
  readonly budget: CallBudget
  readonly signal: AbortSignal
  /** Whose words it repeats, where these are a user's. */
  readonly sourceUser?: string | undefined
}

/** What came of asking a model. */
export interface Asked {
  /** Undefined where there was no answer. */
  readonly text: string | undefined
  readonly problem?: { readonly code: string; readonly message: string }
  readonly provider?: string | undefined
  readonly tokens_in: number
  readonly tokens_out: number
  /** Of all attempts; undefined where the price is not known. */
  readonly cost_nano: number | undefined
  readonly latency_ms: number
  readonly trace_id: string
}

/** Modules whose work would hide what the model itself does: they answer from before, ask another model, or ask again. */
const passedBy = [
  ...answeringFromMemory,
  'abrouter',
  'autopilot',
  'canarydeploy',
  'evalgate',
  'fallbackrouter',
  'hedgerace',
  'mirrortest',
  'modelswitch',
  'multicall',
  'tierdrop',
]

/** Milliseconds before the second attempt and the third. */
const delaysMs = [500, 2000]
/** The longest wait that a provider can ask for. */
const longestWaitS = 30

/**
 * Asks a model in the name of who began the run. A failure that may pass is tried again, and one that does not is no answer, which
 * says nothing of the model. `added` are modules that have added to the request already. Rejects when the budget is used up, and with
 * the reason of the signal.
 */
export async function askModel(
  asking: Asking,
  request: ModelRequest,
  added: readonly string[] = [],
): Promise<Asked> {
  let cost: number | undefined = 0
  for (let attempt = 0; ; attempt += 1) {
    const { asked, error } = await once(asking, request, added)
    cost = cost === undefined || asked.cost_nano === undefined ? undefined : cost + asked.cost_nano
    const delay = delaysMs[attempt]
    if (error === undefined || delay === undefined || !mayPass(error)) return { ...asked, cost_nano: cost }
    await passes(Math.max(delay, 1000 * waitOf(error)), undefined, { signal: asking.signal })
  }
}

async function once(
  { call, run, budget, signal, sourceUser }: Asking,
  request: ModelRequest,
  added: readonly string[],
): Promise<{ readonly asked: Asked; readonly error?: unknown }> {
  const settle = await budget.claim(signal, request.model)
  let spent = 0
  let text: string | undefined
  let error: unknown
  try {
    const made = call(request, {
      as: { userId: undefined, tenant: undefined, ...run.principal },
      source: 'calibration',
      ip: run.ip,
      project: run.project,
      session: run.id,
      ...(sourceUser !== undefined && { sourceUser }),
      tags: { [run.kind]: run.of },
      skip: [...passedBy, ...added],
      signal,
    })
    try {
      text = answerTexts(await collect(await made.reply)).join('\n')
    } catch (thrown) {
      error = thrown
    }
    const outcome = await made.outcome
    spent = outcome?.cost?.totalNano ?? 0
    signal.throwIfAborted()
    const { input = 0, output = 0 } = outcome?.usage ?? {}
    const asked: Asked = {
      text,
      ...(error !== undefined && { problem: callProblem(error) }),
      provider: outcome?.provider,
      tokens_in: input,
      tokens_out: output,
      cost_nano: outcome?.cost ? spent : input + output > 0 ? undefined : 0,
      latency_ms: Math.round(outcome?.latencyMs ?? 0),
      trace_id: made.id,
    }
    return { asked, error }
  } finally {
    settle(spent, text !== undefined)
  }
}

const waitOf = (error: unknown): number =>
  Math.min(longestWaitS, (isGatewayError(error) ? error.retryAfterS : undefined) ?? 0)
