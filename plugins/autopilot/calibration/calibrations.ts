import { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  type JobQueue,
  Jobs,
  newId,
  notFound,
  type Principal,
} from '#kernel'
import { type KeptOfUser, storePrincipal } from '#kit'
import type { Scores } from '../scores/scores.ts'
import { type Performing, perform } from './perform.ts'
import { type AnswerRow, answerRow, type CalibrationRow, calibrationRow, spentOn } from './rows.ts'
import { scoresOf } from './scoring.ts'

const dayMs = 86_400_000
const timeoutMs = 6 * 3_600_000

/** What a calibration is to do. */
export type Wish = Pick<
  CalibrationRow,
  'reference' | 'candidates' | 'judge' | 'max_nano' | 'samples' | 'ip'
> & {
  readonly principal: Principal
}

/** Calibrations: each is a row and a job, and its scores come with its end in one transaction, or not at all. */
export class Calibrations {
  readonly rows: Collection<CalibrationRow>
  readonly answers: Collection<AnswerRow>
  readonly #context: Pick<Context<unknown>, 'store'>
  readonly #scores: Scores
  readonly #queue: JobQueue<{ id: string }>
  #beginning: Promise<unknown> = Promise.resolve()

  constructor(context: Context<unknown>, scores: Scores, performing: Omit<Performing, 'calibrations'>) {
    this.#context = context
    this.#scores = scores
    this.rows = context.store.collection('calibrations', {
      schema: calibrationRow,
      indexes: { created: ({ created_at }) => created_at, status: ({ status }) => status },
    })
    this.answers = context.store.collection('answers', {
      schema: answerRow,
      indexes: {
        at: ({ at }) => at,
        calibration: ({ calibration_id, at }) => [[calibration_id, at]],
        user: ({ user_id }) => user_id,
      },
    })
    this.#queue = context.use(Jobs).define(context, 'calibrate', {
      input: z.strictObject({ id: z.string() }),
      timeoutMs,
      delaysMs: [10_000, 60_000],
      run: ({ input: { id }, signal }) => perform({ ...performing, calibrations: this }, id, signal),
      gaveUp: ({ input: { id } }, { message }) => this.end(id, { status: 'failed', error: message }),
      cancelled: ({ input: { id } }) => this.end(id, { status: 'cancelled' }),
    })
  }

  /** Stores a calibration, which begins at once. Throws a conflict while another one runs, as they would spend side by side. */
  begin(wish: Wish): Promise<CalibrationRow> {
    const turn = this.#beginning.catch(() => {}).then(() => this.#begin(wish))
    this.#beginning = turn
    return turn
  }

  /** Throws a not found. */
  async find(id: string): Promise<CalibrationRow> {
    const row = await this.rows.get(id)
    if (!row) throw notFound(`There is no calibration ${id}.`, { param: 'id' })
    return row
  }

  /** Keeps an answer; without its user where that one was erased since it was asked for. */
  async keep(row: AnswerRow): Promise<void> {
    await this.answers.update(row.id, (now) =>
      now !== undefined && now.user_id === undefined ? withoutUser(row) : row,
    )
  }

  async answersOf(id: string): Promise<AnswerRow[]> {
    const found: AnswerRow[] = []
    for await (const [, row] of this.answers.scan({ index: 'calibration', equals: [id] })) found.push(row)
    return found
  }

  /** Ends a calibration that runs; scores are made of a completed one only. False for one that has ended. */
  async end(
    id: string,
    end: Pick<CalibrationRow, 'status' | 'error'> & Partial<CalibrationRow>,
  ): Promise<boolean> {
    const answers = await this.answersOf(id)
    const spent_nano = answers.reduce((sum, answer) => sum + spentOn(answer), 0)
    return this.#context.store.transaction((tx) => {
      const row = tx.get(this.rows, id)
      if (row?.status !== 'running') return false
      tx.put(this.rows, id, { ...row, ...end, spent_nano, ended_at: new Date().toISOString() })
      if (end.status === 'completed') for (const score of scoresOf(row, answers)) this.#scores.put(tx, score)
      return true
    })
  }

  /** Throws a conflict for one that has ended. */
  async cancel(id: string): Promise<void> {
    await this.find(id)
    if (!(await this.end(id, { status: 'cancelled' })))
      throw conflict('The calibration has ended.', { param: 'id' })
    await this.#queue.delete(id)
  }

  countRun(): Promise<number> {
    return this.rows.count({ index: 'status', equals: 'completed' })
  }

  /** Deletes answers that are older than so many days, and forgets which calls old calibrations repeated. */
  async prune(days: number): Promise<void> {
    const to = new Date(Date.now() - days * dayMs).toISOString()
    for await (const [id] of this.answers.scan({ index: 'at', to })) await this.answers.delete(id)
    for await (const [id, { samples }] of this.rows.scan({ index: 'created', to }))
      if (samples.length > 0)
        await this.rows.update(id, (row) =>
          row === undefined || row.status === 'running' ? undefined : { ...row, samples: [] },
        )
  }

  /** Answers to calls of users. An erasure leaves the figures, so that no money is forgotten. */
  get ofUsers(): KeptOfUser {
    return {
      count: (user) => this.answers.count({ index: 'user', equals: user }),
      erase: async (user) => {
        let erased = 0
        for await (const [id] of this.answers.scan({ index: 'user', equals: user }))
          if (await this.answers.update(id, (row) => row && withoutUser(row))) erased += 1
        return erased
      },
    }
  }

  async #begin({ principal, ...wish }: Wish): Promise<CalibrationRow> {
    const { items } = await this.rows.list({ index: 'status', equals: 'running', limit: 1 })
    if (items[0]) throw conflict(`The calibration ${items[0].id} is running. Wait for it, or cancel it.`)
    const id = newId('cal_')
    const row: CalibrationRow = {
      id,
      status: 'running',
      principal: storePrincipal(principal),
      ...wish,
      spent_nano: 0,
      out_of_money: false,
      created_at: new Date().toISOString(),
    }
    await this.#context.store.transaction((tx) => {
      tx.create(this.rows, id, row)
      this.#queue.addIn(tx, { id }, { id })
    })
    return row
  }
}

const withoutUser = ({ user_id: _, tenant: __, previews: ___, ...row }: AnswerRow): AnswerRow => row
