import { type Context, isGatewayError, isUpstreamError, type ModelRequest } from '#kernel'
import { type CallBudget, collect, type RowWaits } from '#kit'
import { isOver, type RunRow } from '../runs/rows.ts'
import type { Runs } from '../runs/runs.ts'
import type { Usage } from '../steps/ask.ts'
import type { BatchRow, ItemRow } from './rows.ts'

/** What items are made with. */
export interface Making {
  readonly call: Context<unknown>['call']
  readonly runs: Runs
  /** For runs to end, also those that wait for a person meanwhile. */
  readonly ends: RowWaits<RunRow>
  readonly batch: BatchRow
  readonly budget: CallBudget
  readonly signal: AbortSignal
}

/** Ends work whose caller's key does not work any more: none of its items could be made. */
export class KeyGone extends Error {}

/** Longer than any batch. */
const foreverMs = 2 ** 31 - 1

/** What came of an attempt at an item. */
export type Tried =
  | { readonly response: unknown; readonly error?: undefined; readonly run?: string }
  | {
      readonly error: unknown
      readonly problem?: ItemRow['error']
      readonly run?: string
      readonly response?: undefined
    }

/** Makes an item once, as soon as its money allows. Rejects with `BudgetExceeded` or `KeyGone`, and with the reason of the signal. */
export async function attempt(making: Making, item: ItemRow, body: unknown, usage: Usage): Promise<Tried> {
  const { batch, budget, signal } = making
  const before = usage.cost_nano
  const settle = await budget.claim(signal, batch.workflow?.slug ?? (body as ModelRequest).model)
  let wasAnswered = false
  try {
    const tried = await (batch.workflow
      ? runWorkflow(making, item, body, usage)
      : ask(making, body as ModelRequest, usage))
    wasAnswered = tried.error === undefined
    return tried
  } catch (error) {
    signal.throwIfAborted()
    if (isGatewayError(error) && !isUpstreamError(error) && error.code === 'unauthorized')
      throw new KeyGone(error.message)
    return { error }
  } finally {
    settle(usage.cost_nano - before, wasAnswered)
  }
}

async function ask({ call, batch, signal }: Making, request: ModelRequest, usage: Usage): Promise<Tried> {
  const made = call(request, {
    as: { userId: undefined, tenant: undefined, ...batch.principal },
    source: 'batch',
    ip: batch.ip,
    project: batch.project,
    session: batch.id,
    tags: { batch: batch.id },
    signal,
  })
  usage.trace_id = made.id
  try {
    return { response: await collect(await made.reply) }
  } finally {
    const outcome = await made.outcome
    if (outcome) usage.add(outcome)
  }
}

/** A run of the workflow: the same one for the same item, also after a kill, so that none of its steps is paid twice. */
async function runWorkflow(
  { runs, ends, batch, signal }: Making,
  item: ItemRow,
  input: unknown,
  usage: Usage,
): Promise<Tried> {
  const { id, slug, version, steps } = batch.workflow!
  const added = await runs.add({ id, slug, current_version: version }, steps, {
    principal: { userId: undefined, tenant: undefined, ...batch.principal },
    ip: batch.ip,
    project: batch.project,
    input,
    key: `${item.index} ${item.round}`,
    batch: batch.id,
  })
  await ends.until(added.id, foreverMs, signal)
  signal.throwIfAborted()
  const run = await runs.store.runs.get(added.id)
  if (!run || !isOver(run))
    return { error: 'deleted', problem: { code: 'not_found', message: 'The run was deleted.' } }
  usage.tokens_in += run.tokens_in
  usage.tokens_out += run.tokens_out
  usage.cost_nano += run.cost_nano
  if (run.status === 'completed')
    return { run: run.id, response: (await runs.texts.detailOf(run)).output ?? null }
  const { code, message } = run.error ?? { code: run.status, message: `The run is ${run.status}.` }
  return { run: run.id, error: run.status, problem: { code, message } }
}
