import { type Collection, type Context, conflict, kernelServices, notFound, type Principal } from '#kernel'
import { OwnedRows, ownedKey, type SealedJson, schemaCheck } from '#kit'
import type { Settings } from '../settings.ts'
import { StepFault } from '../steps/fault.ts'
import { runHttp } from '../steps/http.ts'
import { mayRequest } from '../workflows/check.ts'
import type { Value } from '../workflows/value.ts'
import { type ToolBody, type ToolRow, toolRow } from './rows.ts'

/** Tools of one user, and of all admins together. */
const most = 100

export interface ToolStats {
  readonly calls: number
  readonly errors: number
  readonly mean_ms: number | null
}

type Counters = Awaited<ReturnType<Context<unknown>['store']['counters']>>

/** The tools, and their use. */
export class Tools {
  readonly known: OwnedRows<ToolRow>
  readonly json: SealedJson
  readonly #context: Context<Settings>
  readonly #rows: Collection<ToolRow>
  readonly #stats: Counters

  private constructor(context: Context<Settings>, json: SealedJson, stats: Counters) {
    this.#context = context
    this.json = json
    this.#stats = stats
    this.#rows = context.store.collection('tools', { schema: toolRow })
    this.known = new OwnedRows(this.#rows, 'tool')
  }

  static async open(context: Context<Settings>, json: SealedJson): Promise<Tools> {
    const tools = new Tools(context, json, await context.store.counters('tools'))
    context.own(await tools.known.load())
    return tools
  }

  get(id: string): ToolRow | undefined {
    return this.known.withId(id)
  }

  /** The tool of this id, if the caller may see it. Throws a not found. */
  find(id: string, caller: Principal): ToolRow {
    const row = this.known.seenBy(caller).find((row) => row.id === id)
    if (row) return row
    throw notFound(`There is no tool ${id}.`, { param: 'id' })
  }

  async create(row: ToolRow): Promise<void> {
    if (this.known.of(row.user_id).length >= most)
      throw conflict(`There are ${most} tools already. Delete one first.`, { param: 'name' })
    if (!(await this.#rows.create(ownedKey(row), row)))
      throw conflict(`There is a tool ${row.slug} already.`, { param: 'name' })
  }

  /** Throws a not found where the tool is gone. */
  async change(row: ToolRow, change: (row: ToolRow) => ToolRow): Promise<ToolRow> {
    const changed = await this.#rows.update(ownedKey(row), (now) =>
      now?.id === row.id
        ? { ...change(now), version: now.version + 1, updated_at: new Date().toISOString() }
        : undefined,
    )
    if (changed) return changed
    throw notFound(`There is no tool ${row.id}.`, { param: 'id' })
  }

  async delete(row: ToolRow): Promise<void> {
    await this.#rows.delete(ownedKey(row))
    this.#stats.clear(`${row.id} `)
  }

  async eraseOf(user: string): Promise<number> {
    const rows = this.known.of(user)
    for (const row of rows) await this.delete(row)
    return rows.length
  }

  /** What a tool says. Throws a `StepFault` where it cannot be read any more. */
  async read({ slug, body }: ToolRow): Promise<ToolBody> {
    const opened = await this.json.read(body)
    if (opened) return opened.value as ToolBody
    throw new StepFault('unreadable', `What the tool ${slug} says cannot be read any more.`)
  }

  encrypt(headers: Readonly<Record<string, string>>): string {
    return this.#context.use(kernelServices.secrets).encrypt(JSON.stringify(headers))
  }

  stats({ id }: ToolRow): ToolStats {
    const [calls, errors, ms] = ['calls', 'errors', 'ms'].map((name) => this.#stats.get(`${id} ${name}`))
    return { calls: calls!, errors: errors!, mean_ms: calls === 0 ? null : ms! / calls! }
  }

  /** Uses a tool; `args` must match its schema. Throws a `StepFault`. */
  async use(id: string, args: Value, signal: AbortSignal): Promise<Value> {
    const row = this.get(id)
    if (!row?.enabled) throw new StepFault('tool_missing', 'The tool is gone, or switched off.')
    if (!mayRequest(row.user_id, this.#context.settings))
      throw new StepFault('forbidden', 'Only tools of admins may send requests.')
    const body = await this.read(row)
    check(body.schema, args, 'arguments_invalid', 'The arguments do not match the schema of the tool')
    const began = performance.now()
    this.#stats.add(`${id} calls`, 1)
    try {
      return await this.#sent(row, body, args, signal)
    } catch (error) {
      this.#stats.add(`${id} errors`, 1)
      throw error
    } finally {
      this.#stats.add(`${id} ms`, Math.round(performance.now() - began))
    }
  }

  async #sent(row: ToolRow, body: ToolBody, args: Value, signal: AbortSignal): Promise<Value> {
    const { fetch, settings } = this.#context
    const time = AbortSignal.timeout(row.timeout_ms)
    try {
      const request = requestOf(body, this.#headersOf(row), args)
      // Another place that a service names must not get the credentials.
      const asked: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'manual' })
      const output = await runHttp(asked, request, AbortSignal.any([signal, time]), settings.max_input_bytes)
      const { body: said } = output as { body: Value }
      if (body.output_schema)
        check(
          body.output_schema,
          said,
          'output_invalid',
          'The answer does not match the output_schema of the tool',
        )
      return said
    } catch (error) {
      if (!time.aborted || signal.aborted) throw error
      throw new StepFault('timeout', `The tool took longer than ${row.timeout_ms} ms.`, { mayPass: true })
    }
  }

  #headersOf({ headers }: ToolRow): Record<string, string> {
    return headers === undefined ? {} : JSON.parse(this.#context.use(kernelServices.secrets).decrypt(headers))
  }
}

function check(schema: Record<string, unknown>, value: Value, code: string, what: string): void {
  const [problem] = schemaCheck(schema as Parameters<typeof schemaCheck>[0])(value)
  if (problem !== undefined) throw new StepFault(code, `${what}: ${problem}.`)
}

function requestOf({ url, method }: ToolBody, headers: Record<string, string>, args: Value) {
  if (method !== 'GET' && method !== 'DELETE')
    return {
      url,
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(args),
    }
  const address = new URL(url)
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    for (const [name, arg] of Object.entries(args))
      address.searchParams.set(name, typeof arg === 'string' ? arg : JSON.stringify(arg))
  return { url: address.href, method, headers }
}
