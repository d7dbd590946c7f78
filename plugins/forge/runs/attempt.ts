import { type Context, isGatewayError } from '#kernel'
import { BudgetExceeded, CallBudget, nanoOf, type SealedJson } from '#kit'
import type { Settings } from '../settings.ts'
import { type Problem, problemOf, StepFault } from '../steps/fault.ts'
import type { Tools } from '../tools/tools.ts'
import type { Whole } from '../workflows/definition.ts'
import type { Value } from '../workflows/value.ts'
import type { Workflows } from '../workflows/workflows.ts'
import type { Ended } from './ended.ts'
import { Execution } from './execution.ts'
import { Journal } from './journal.ts'
import { Leaves } from './leaves.ts'
import { People } from './people.ts'
import { RunOver, type RunRow, type RunStatus } from './rows.ts'
import type { RunStore } from './store.ts'

/** What runs are made with. */
export interface Means {
  readonly context: Context<Settings>
  readonly store: RunStore
  readonly json: SealedJson
  readonly workflows: Workflows
  readonly toolbox: Tools
}

/** The end of a run. */
export interface End {
  readonly status: RunStatus
  readonly output?: Value
  readonly error?: Problem & { readonly step_id?: string }
}

/** What came of going on with a run: its end, or until when it waits for a person. */
export interface Attempt {
  readonly end?: End
  readonly until?: number
  /** Milliseconds that the run has run for. */
  readonly ranMs: number
}

/** Goes on with a run until it ends or waits. Throws `RunOver`, the reason of the signal, and what is wrong with the gateway. */
export async function goOn(means: Means, run: RunRow, signal: AbortSignal): Promise<Attempt> {
  const began = performance.now()
  const ranMs = (): number => run.ran_ms + Math.round(performance.now() - began)
  const people = new People(Date.now)
  try {
    const ended = await executed(means, run, people, ranMs, signal)
    const end = endOf(ended)
    return { ranMs: ranMs(), ...(end ? { end } : { until: people.until }) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BudgetExceeded) return { ranMs: ranMs(), end: tooDear }
    if (error instanceof StepFault || isGatewayError(error))
      return { ranMs: ranMs(), end: { status: 'failed', error: problemOf(error) } }
    throw error
  }
}

async function executed(
  { context, store, json, workflows, toolbox }: Means,
  run: RunRow,
  people: People,
  ranMs: () => number,
  signal: AbortSignal,
): Promise<Ended> {
  const { settings, call, fetch } = context
  const { max_parallel, max_input_bytes: mostBytes, max_items: maxItems } = settings
  const whole = await workflows.read({ id: run.workflow, slug: run.workflow_slug }, run.workflow_version)
  const input = await inputOf(store, json, run.id)
  const { limits } = whole
  const most = limits.max_cost_usd === undefined ? Number.POSITIVE_INFINITY : nanoOf(limits.max_cost_usd)
  const journal = await Journal.open({ run, store, json, mostOfOne: mostBytes, ranMs })
  const tools = { call, fetch, run, mostBytes, toolbox, budget: new CallBudget(most, run.cost_nano) }
  const leaves = new Leaves(journal, tools, Math.min(limits.max_parallel ?? max_parallel, max_parallel))
  const execution = new Execution({ journal, leaves, people, toolbox, run, maxItems, mostBytes })
  return inTime(timeOf(whole, settings) - run.ran_ms, signal, (signal) =>
    execution.workflow(whole, input, '', signal),
  )
}

const timeOf = ({ limits }: Whole, settings: Settings): number =>
  1000 * Math.min(limits.timeout_s ?? settings.timeout_s, settings.timeout_s)

async function inputOf(store: RunStore, json: SealedJson, run: string): Promise<Value> {
  const stored = await store.textOf(run, 'input')
  if (stored === undefined) throw new RunOver('The run was deleted')
  const opened = await json.read(stored)
  if (opened) return opened.value as Value
  throw new StepFault('unreadable', 'The input of the run cannot be read any more.')
}

async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const time = AbortSignal.timeout(Math.max(0, ms))
  try {
    return await run(AbortSignal.any([signal, time]))
  } catch (error) {
    if (!time.aborted || signal.aborted) throw error
    throw new StepFault('timeout', 'The run took longer than it may.')
  }
}

const tooDear: End = {
  status: 'budget_exceeded',
  error: { code: 'budget_exceeded', message: 'The run has cost as much as its limit says.' },
}

/** Undefined for a run that waits. */
function endOf(ended: Ended): End | undefined {
  if (ended.status === 'completed') return { status: 'completed', output: ended.output }
  if (ended.status !== 'failed') return undefined
  return { status: 'failed', error: { ...ended.problem, step_id: ended.path } }
}
