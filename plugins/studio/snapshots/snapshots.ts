import {
  badRequest,
  type Context,
  conflict,
  type ModelRequest,
  newId,
  notFound,
  type Principal,
} from '#kernel'
import { CallBudget, checkVisibility, storePrincipal, usdOf } from '#kit'
import { ownerOf, Things } from '../owned.ts'
import { askModel } from '../runs/ask.ts'
import type { Runs } from '../runs/runs.ts'
import type { Studio } from '../studio.ts'
import type { SnapshotInput } from './input.ts'
import { checkMatch, driftOf, isLike, type Match, match, matchScore } from './match.ts'
import { questionOf } from './question.ts'
import { type HistoryItem, type SnapshotRow, snapshotRow } from './rows.ts'

/** Snapshots of one owner, and what is kept of the runs of each. */
const most = 500
const mostHistory = 50

/** Characters of an answer that are pinned. */
const longest = 100_000

/** Who asks, and until when. */
export interface Caller {
  readonly principal: Principal
  readonly ip: string
  readonly project: string
  readonly signal: AbortSignal
}

/** The snapshot that asks, and the modules that have added to its request already. */
interface Asked {
  readonly id: string
  readonly added?: readonly string[] | undefined
  readonly source_user_id?: string | undefined
}

/** Snapshots: questions with the answers that are pinned, to be asked again. */
export class Snapshots {
  readonly things: Things<SnapshotRow>
  readonly #context: Pick<Context<unknown>, 'call' | 'find'>
  readonly #studio: Studio
  readonly #json: Runs['json']
  readonly #schemas: Runs['schemas']

  constructor(context: Context<unknown>, studio: Studio, { json, schemas }: Pick<Runs, 'json' | 'schemas'>) {
    this.things = new Things(context, { plural: 'snapshots', name: 'snapshot', most, schema: snapshotRow })
    this.#context = context
    this.#studio = studio
    this.#json = json
    this.#schemas = schemas
  }

  /** Pins an answer: the one that is given, that of a past call, or what the model says now. */
  async save(input: SnapshotInput, caller: Caller): Promise<SnapshotRow> {
    const { name, description, visibility = 'private', expected_output } = input
    const owner = ownerOf(caller.principal)
    checkVisibility(visibility, owner, 'snapshots')
    await this.things.checkRoom(owner)
    const rule = match.parse(input.match ?? {})
    const { request, template, answer, user, added } = await questionOf(
      this.#context,
      this.#studio,
      input,
      caller.principal,
    )
    const id = newId('snp_')
    const known = expected_output ?? answer
    if (known !== undefined) await this.check(rule, known)
    const baseline = (
      known ?? (await this.#answerTo({ id, added, source_user_id: user }, request, caller))
    ).slice(0, longest)
    await this.check(rule, baseline)
    const now = new Date().toISOString()
    const row: SnapshotRow = {
      id,
      ...owner,
      ...(user !== undefined && { source_user_id: user }),
      ...(added && added.length > 0 && { added: [...added] }),
      visibility,
      name,
      ...(description !== undefined && { description }),
      model: request.model,
      ...(template && { template }),
      match: rule,
      status: 'unverified',
      request: await this.#json.write(owner, request),
      baseline: await this.#json.write(owner, baseline),
      history: [],
      created_at: now,
      updated_at: now,
    }
    await this.things.rows.put(id, row)
    return row
  }

  /** Asks again, and keeps how far the answer is from the pinned one. No answer changes nothing but the history. */
  async run(row: SnapshotRow, caller: Caller): Promise<SnapshotRow> {
    const request = await this.#read<ModelRequest>(row.request)
    const baseline = await this.#read<string>(row.baseline)
    const asked = await this.#ask(row, request, caller)
    const drift =
      asked.text === undefined ? null : await driftOf(this.#schemas, row.match, baseline, asked.text)
    const item: HistoryItem = {
      run_at: new Date().toISOString(),
      model: request.model,
      status: drift === null ? 'error' : isLike(row.match, drift) ? 'passing' : 'failing',
      score: drift && matchScore(row.match, drift),
      drift,
      trace_id: asked.trace_id,
      cost_usd: asked.cost_nano === undefined ? null : usdOf(asked.cost_nano),
      latency_ms: asked.latency_ms,
      error: asked.problem ?? null,
    }
    const last =
      asked.text === undefined ? undefined : await this.#json.write(row, asked.text.slice(0, longest))
    return this.change(row, (now) => ({
      ...now,
      ...(item.status !== 'error' && { status: item.status }),
      ...(last !== undefined && { last }),
      history: [item, ...now.history].slice(0, mostHistory),
    }))
  }

  /** Refuses a match that no answer can be held to. */
  check(match: Match, baseline: string): Promise<void> {
    return checkMatch(this.#schemas, match, baseline)
  }

  /** Pins another answer. */
  async pin(row: SnapshotRow, answer: string): Promise<SnapshotRow> {
    await this.check(row.match, answer)
    const baseline = await this.#json.write(row, answer)
    return this.change(row, (now) => ({ ...now, baseline, status: 'unverified' }))
  }

  async change(row: SnapshotRow, change: (now: SnapshotRow) => SnapshotRow): Promise<SnapshotRow> {
    const updated_at = new Date().toISOString()
    const changed = await this.things.rows.update(row.id, (now) => now && { ...change(now), updated_at })
    if (changed) return changed
    throw notFound(`There is no snapshot ${row.id}.`, { param: 'id' })
  }

  /** The pinned answer and the last one; null where there is none, or it cannot be read any more. */
  async outputsOf({
    baseline,
    last,
  }: SnapshotRow): Promise<{ baseline: string | null; last: string | null }> {
    const read = async (stored: string) => ((await this.#json.read(stored))?.value as string) ?? null
    return { baseline: await read(baseline), last: last === undefined ? null : await read(last) }
  }

  async #answerTo(asked: Asked, request: ModelRequest, caller: Caller): Promise<string> {
    const { text, problem } = await this.#ask(asked, request, caller)
    if (text !== undefined && text !== '') return text
    throw badRequest(`The model gave no answer to pin. ${problem?.message ?? 'It said nothing.'}`, {
      status: 422,
      type: 'no_answer',
    })
  }

  #ask(
    { id, added, source_user_id: sourceUser }: Asked,
    request: ModelRequest,
    { principal, ip, project, signal }: Caller,
  ) {
    return askModel(
      {
        call: this.#context.call,
        run: { id, kind: 'snapshot', of: id, principal: storePrincipal(principal), ip, project },
        budget: new CallBudget(Number.POSITIVE_INFINITY, 0),
        signal,
        sourceUser,
      },
      request,
      added,
    )
  }

  async #read<T>(stored: string): Promise<T> {
    const opened = await this.#json.read(stored)
    if (opened) return opened.value as T
    throw conflict('What the snapshot pins cannot be read any more. Make another one.', { param: 'id' })
  }
}
