import { setTimeout as passes } from 'node:timers/promises'
import { BudgetExceeded, type Schemas } from '#kit'
import { problemIn } from '../schemas.ts'
import { Usage } from '../steps/ask.ts'
import { canPass, problemOf, StepFault } from '../steps/fault.ts'
import { Places } from '../steps/places.ts'
import { type Leaf, type LeafPlace, type Tools, workOf } from '../steps/work.ts'
import type { Part, Step } from '../workflows/step.ts'
import type { Value } from '../workflows/value.ts'
import { type Ended, isFatal } from './ended.ts'
import type { Journal } from './journal.ts'
import { RunOver, type StepRow } from './rows.ts'

type Retry = NonNullable<Extract<Leaf, { retry?: unknown }>['retry']>

interface Place extends LeafPlace {
  readonly path: string
  readonly signal: AbortSignal
}

/** Steps that others are not a part of: made with their retries, at most so many at a time, and entered in the journal. */
export class Leaves {
  readonly #journal: Journal
  readonly #tools: Tools
  readonly #places: Places

  constructor(journal: Journal, tools: Tools, maxParallel: number) {
    this.#journal = journal
    this.#tools = tools
    this.#places = new Places(maxParallel)
  }

  make(leaf: Leaf, place: Place): Promise<Ended> {
    return this.#places.use(place.signal, () => this.#attempts(leaf, place))
  }

  async #attempts(leaf: Leaf, place: Place): Promise<Ended> {
    const { path, signal } = place
    const usage = new Usage()
    let made = leaf
    let row: StepRow | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { input, run } = workOf(made, place, this.#tools, usage)
        row = await this.#journal.begin(path, leaf.type, attempt, input)
        const output = await within('timeout_ms' in leaf ? leaf.timeout_ms : undefined, signal, run)
        if ('output_schema' in leaf && leaf.output_schema)
          await checkOutput(this.#tools.toolbox.schemas, leaf.output_schema, output)
        return await this.#journal.complete(row, output, usage)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof BudgetExceeded || error instanceof RunOver) throw error
        const retry = 'retry' in leaf ? leaf.retry : undefined
        const fallback = made === leaf ? fallbackOf(leaf) : undefined
        if (retry && attempt <= retry.max && isRetried(retry, error)) {
          await passes(retry.backoff_ms * 2 ** (attempt - 1), undefined, { signal })
        } else if (fallback) {
          made = fallback
        } else {
          row ??= await this.#journal.begin(path, leaf.type, attempt)
          return this.#journal.fail(row, problemOf(error), isFatal(leaf), usage)
        }
      }
    }
  }
}

/** Enters a step that could not begin. Anything but a `StepFault` is thrown on. */
export async function refused(
  journal: Journal,
  step: Pick<Step | Part, 'type' | 'on_error'>,
  path: string,
  error: unknown,
): Promise<Ended> {
  if (!(error instanceof StepFault)) throw error
  return journal.fail(await journal.begin(path, step.type, 1), problemOf(error), isFatal(step))
}

const isRetried = ({ on }: Retry, error: unknown): boolean =>
  on === undefined ? canPass(error) : on.includes(problemOf(error).code)

/** The step with the model that is asked where its own fails. */
function fallbackOf(leaf: Leaf): Leaf | undefined {
  if (leaf.type !== 'llm' && leaf.type !== 'judge') return undefined
  const { provider: _, ...rest } = leaf
  const model = leaf.on_error?.fallback_model
  return model === undefined ? undefined : ({ ...rest, model } as Leaf)
}

async function within<T>(
  ms: number | undefined,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (ms === undefined) return run(signal)
  const time = AbortSignal.timeout(ms)
  try {
    return await run(AbortSignal.any([signal, time]))
  } catch (error) {
    if (!time.aborted || signal.aborted) throw error
    throw new StepFault('timeout', `The step took longer than ${ms} ms.`, { mayPass: true })
  }
}

async function checkOutput(schemas: Schemas, schema: Record<string, unknown>, output: Value): Promise<void> {
  const problem = await problemIn(schemas, schema, output)
  if (problem !== undefined)
    throw new StepFault('output_invalid', `The output does not match its schema: ${problem}.`, {
      mayPass: true,
    })
}
