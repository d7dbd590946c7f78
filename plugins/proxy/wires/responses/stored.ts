import { z } from 'zod'
import { type Collection, type Context, kernelServices, notFound } from '#kernel'
import type { Response } from './asked.ts'
import type { Item } from './schema.ts'

/** A response that is kept, with what it answers. */
export interface Kept {
  readonly response: Response
  /** The input's own items; those of earlier turns are not among them. */
  readonly input: readonly Item[]
}

export interface Limits {
  /** Days after which a response is deleted; with 0 none is kept. */
  readonly days: number
  /** How many each user may have; the oldest go. */
  readonly perUser: number
}

const row = z.object({
  owner: z.string(),
  /** Milliseconds since the epoch. */
  created: z.number(),
  /** The turn before; absent for the first. */
  previous: z.string().optional(),
  /** Response and input, encrypted. */
  kept: z.string(),
})
type Row = z.infer<typeof row>

const dayMs = 86_400_000
const sweepMs = 3_600_000

/**
 * Responses of users, each its caller's own. They are encrypted: they hold what guards keep from providers and from
 * records. A response can be read as soon as it is put, and is on disk soon after.
 */
export class StoredResponses {
  readonly #context: Context<unknown>
  readonly #limits: Limits
  readonly #rows: Collection<Row>
  /** Writes under way. */
  readonly #writing = new Map<string, Row>()

  constructor(context: Context<unknown>, limits: Limits) {
    this.#context = context
    this.#limits = limits
    this.#rows = context.store.collection('responses', {
      schema: row,
      indexes: { owner: ({ owner }) => owner, created: ({ created }) => created },
    })
    context.every(sweepMs, () => this.sweep())
  }

  get enabled(): boolean {
    return this.#limits.days > 0
  }

  /** Keeps a response. A failure is logged; the response is then not found later. */
  put(owner: string, kept: Kept): void {
    const { id, previous_response_id: previous } = kept.response
    const one: Row = {
      owner,
      created: Date.now(),
      ...(typeof previous === 'string' && { previous }),
      kept: this.#context.use(kernelServices.secrets).encrypt(JSON.stringify(kept)),
    }
    this.#writing.set(id, one)
    this.#write(id, one)
      .catch((err) => this.#context.log.error({ err, response: id }, 'a response could not be kept'))
      .finally(() => this.#writing.delete(id))
  }

  /** The caller's response; not found when there is none, or it is another's. */
  async get(owner: string, id: string, param = 'response_id'): Promise<Kept> {
    return this.#read(await this.#row(owner, id, param))
  }

  async delete(owner: string, id: string): Promise<void> {
    await this.#row(owner, id, 'response_id')
    await this.#rows.delete(id)
  }

  /** A response and the turns before it, oldest first. Not found when one of them is not there any more. */
  async conversation(owner: string, id: string, param: string): Promise<Kept[]> {
    const turns: Kept[] = []
    for (let at: string | undefined = id; at !== undefined; ) {
      const one: Row = await this.#row(owner, at, param)
      turns.push(this.#read(one))
      at = one.previous
    }
    return turns.reverse()
  }

  /** Deletes everything of a user. */
  async forget(owner: string): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'owner', equals: owner })) await this.#rows.delete(id)
  }

  /** Deletes what is too old. */
  async sweep(now = Date.now()): Promise<void> {
    for await (const [id, { created }] of this.#rows.scan({ index: 'created' })) {
      if (created > now - this.#limits.days * dayMs) return
      await this.#rows.delete(id)
    }
  }

  async #write(id: string, one: Row): Promise<void> {
    await this.#rows.put(id, one)
    const own = { index: 'owner', equals: one.owner }
    const surplus = (await this.#rows.count(own)) - this.#limits.perUser
    if (surplus <= 0) return
    for await (const [old] of this.#rows.scan({ ...own, limit: surplus })) await this.#rows.delete(old)
  }

  async #row(owner: string, id: string, param: string): Promise<Row> {
    const found = this.#writing.get(id) ?? (id === '' ? undefined : await this.#rows.get(id))
    if (found && found.owner === owner) return found
    throw notFound(`There is no response ${id}: it was not stored, or is not kept any more.`, { param })
  }

  #read({ kept }: Row): Kept {
    return JSON.parse(this.#context.use(kernelServices.secrets).decrypt(kept)) as Kept
  }
}
