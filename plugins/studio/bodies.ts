import { LRUCache } from 'lru-cache'
import { type Awaitable, type Context, Sealing } from '#kernel'
import { type BodySeals, bodySeals, type StoredVersion } from '#kit'
import { Prompt } from './prompt.ts'
import { type TemplateRow, type VersionBody, versionBody } from './rows.ts'

/** Characters of versions that are kept ready to be filled, in each thread. */
const kept = 10_000_000
/** What a short one takes too. */
const least = 1000

/** Whose template it is. */
export type Owner = Pick<TemplateRow, 'user_id' | 'tenant'>

/** What versions say: written for the store, sealed where that is asked for, and read, ready to be filled. */
export class Bodies {
  readonly #seals: BodySeals
  readonly #ready = new LRUCache<string, { readonly prompt: Prompt; readonly size: number }>({
    maxSize: kept,
    sizeCalculation: ({ size }) => size,
  })

  constructor(context: Pick<Context<unknown>, 'id' | 'find' | 'use'>) {
    this.#seals = bodySeals(context, () => context.use(Sealing))
  }

  /** For the owner of a template. */
  async write({ user_id: userId, tenant }: Owner, body: VersionBody): Promise<string> {
    const seal = await this.#seals.sealFor({ userId, tenant })
    const json = JSON.stringify(body)
    return seal ? seal(json) : json
  }

  /** Undefined where it cannot be opened any more, such as under another encryption key. */
  async read({ body }: StoredVersion): Promise<VersionBody | undefined> {
    const json = await this.#seals.tryOpen(body)
    return json === undefined ? undefined : versionBody.parse(JSON.parse(json))
  }

  /** A version ready to be filled; `read` gives its row. It never changes, so it is made once. */
  ready(key: string, read: () => Promise<StoredVersion | undefined>): Awaitable<Prompt | undefined> {
    return this.#ready.get(key)?.prompt ?? this.#make(key, read)
  }

  async #make(key: string, read: () => Promise<StoredVersion | undefined>): Promise<Prompt | undefined> {
    const row = await read()
    const body = row && (await this.read(row))
    if (!body) return undefined
    const prompt = new Prompt(body)
    this.#ready.set(key, { prompt, size: least + row.body.length })
    return prompt
  }
}
