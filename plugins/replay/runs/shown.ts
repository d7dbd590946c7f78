import type { z } from 'zod'
import { type Completion, type Context, notFound, type Principal, TraceReader } from '#kernel'
import { scopeOf } from '#kit'
import { textOf } from './figures.ts'
import type { EndedRun, RunMaker } from './make.ts'
import { itemOf, type RunRow, type runDetail } from './row.ts'
import type { Runs } from './runs.ts'

type Detail = z.infer<typeof runDetail>

/** Runs with what was said in them, for those who may see it. */
export class ShownRuns {
  readonly #use: Context<unknown>['use']
  readonly #runs: Runs
  readonly #maker: RunMaker

  constructor({ use }: Pick<Context<unknown>, 'use'>, runs: Runs, maker: RunMaker) {
    this.#use = use
    this.#runs = runs
    this.#maker = maker
  }

  /** A run that the caller may see; throws a not found for any other. */
  find(id: string, caller: Principal | undefined): Promise<RunRow> {
    const user = scopeOf(caller)
    return this.#find(id, 'id', (row) => isOf(row, user) || row.visibility === 'shared')
  }

  /** A run that the caller may delete and pass on; throws a not found for any other. `param` is the field that names it. */
  findOwn(id: string, caller: Principal | undefined, param = 'id'): Promise<RunRow> {
    const user = scopeOf(caller)
    return this.#find(id, param, (row) => isOf(row, user))
  }

  async #find(id: string, param: string, isMeant: (row: RunRow) => boolean): Promise<RunRow> {
    const row = await this.#runs.get(id)
    if (row && isMeant(row)) return row
    throw notFound(`There is no run ${id}.`, { param })
  }

  /** What both sides of a run said, as their traces have it. */
  async said({ source, target }: RunRow): Promise<Said> {
    const [before, after] = await Promise.all([this.#bodies(source), this.#bodies(target)])
    return {
      source: answerIn(before?.response),
      target: answerIn(after?.response),
      request: after?.truncated?.includes('request') ? null : (after?.request ?? null),
    }
  }

  /** A run as it is stored. */
  async stored(row: RunRow): Promise<Detail> {
    return this.#detail(row, await this.said(row))
  }

  /** A run that has just ended, with the answer as its caller gets it. */
  ended({ row, past, request, answer }: EndedRun): Promise<Detail> {
    const target = answer ? textOf(answer) : null
    return this.#detail(row, { source: textOf(past.response), target, request })
  }

  async #detail(row: RunRow, { source, target, request }: Said): Promise<Detail> {
    const item = itemOf(row)
    return {
      ...item,
      source: { ...item.source, response: source },
      target: { ...item.target, response: target },
      request,
      overrides: await this.#maker.overridesOf(row),
    }
  }

  async #bodies({ trace_id: id }: RunRow['source']) {
    return id === null ? undefined : this.#use(TraceReader).bodies(id)
  }
}

const isOf = ({ user_id }: RunRow, user: string | undefined): boolean =>
  user === undefined || user_id === user

/** The texts of a run; null is what is not stored. */
export interface Said {
  readonly source: string | null
  readonly target: string | null
  readonly request: unknown
}

/** The text of a stored answer; null for one of which only the beginning is there. */
function answerIn(response: unknown): string | null {
  const isWhole = typeof response === 'object' && response !== null && 'choices' in response
  return isWhole ? textOf(response as Completion) : null
}
