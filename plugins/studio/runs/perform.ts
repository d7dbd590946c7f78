import type { Context } from '#kernel'
import type { Schemas, SealedJson } from '#kit'
import type { Scored } from '../experiments/decide.ts'
import type { Settings } from '../settings.ts'
import type { Plan } from './plan.ts'
import type { Prompts } from './request.ts'
import { RunOver, type RunRow } from './rows.ts'
import type { RunStore } from './store.ts'
import { type WorkEnd, workOff } from './work.ts'

/** What runs need of the rest of the studio. */
export interface RunMeans {
  readonly schemas: Schemas
  /** The prompts of the templates that a plan names; rejects where one is gone. */
  readonly promptsOf: (plan: Plan) => Promise<Prompts>
  readonly isDecided: (plan: Plan, answers: readonly Scored[]) => boolean
}

/** What runs are made with. */
export interface RunTools extends RunMeans {
  readonly context: Pick<Context<Settings>, 'call' | 'settings'>
  readonly store: RunStore
  readonly json: SealedJson
}

/** The end of a run. */
export type End = Pick<RunRow, 'status' | 'error' | 'is_early'>

/** Characters of an answer that are kept. */
const longestText = 20_000

/** Makes a run, or goes on with one that was cut off, and returns its end. Rejects with the reason of the signal. */
export async function makeRun(
  { context, store, json, schemas, promptsOf, isDecided }: RunTools,
  run: RunRow,
  plan: Plan,
  signal: AbortSignal,
): Promise<End> {
  const prompts = await promptsOf(plan).catch(() => undefined)
  if (!prompts) return templateGone
  const time = AbortSignal.timeout(context.settings.timeout_s * 1000)
  const working = workOff({
    call: context.call,
    schemas,
    run,
    plan,
    prompts,
    before: await store.answersOf(run.id),
    maxParallel: context.settings.max_parallel,
    signal: AbortSignal.any([signal, time]),
    keep: async ({ row, text }) => {
      const stored =
        text === undefined ? undefined : await json.write(ownerOf(run), text.slice(0, longestText))
      await store.answer(row, stored)
    },
    isDecided: (answers) => isDecided(plan, answers),
  })
  const end = await working.catch((error: unknown) => {
    if (!time.aborted || signal.aborted) throw error
    return undefined
  })
  if (!end) return tooLong
  const row = await store.runs.get(run.id)
  if (!row) throw new RunOver('The run was deleted')
  return endOf(row, end)
}

function endOf({ total, done, errors }: RunRow, end: WorkEnd): End {
  if (end === 'too_dear') return tooDear
  if (errors === total) return noAnswers
  return { status: 'completed', ...(end === 'decided' && done < total && { is_early: true }) }
}

export const ownerOf = ({ principal: { userId, tenant } }: RunRow) => ({ user_id: userId, tenant })

const failed = (code: string, message: string): End => ({ status: 'failed', error: { code, message } })

export const unreadable = failed('unreadable', 'What the run was to ask cannot be read any more.')
const templateGone = failed('not_found', 'A template that a variant names is not there any more.')
const noAnswers = failed(
  'no_answers',
  'No model answered, which says nothing of the models; the errors of the answers say why.',
)
const tooLong = failed('timeout', 'The run took longer than it may.')
const tooDear: End = {
  status: 'stopped_budget',
  error: { code: 'budget_exceeded', message: 'The run has cost as much as its limit says.' },
}
