import {
  type Collection,
  type Context,
  conflict,
  kernelServices,
  notFound,
  type Principal,
  TrustPolicies,
} from '#kernel'
import { OwnedRows, ownedKey, type Schemas, type SealedJson, type StoredPrincipal } from '#kit'
import type { RunRow } from '../runs/rows.ts'
import { problemIn } from '../schemas.ts'
import type { Settings } from '../settings.ts'
import { StepFault } from '../steps/fault.ts'
import { runHttp } from '../steps/http.ts'
import { mayRequest } from '../workflows/check.ts'
import type { Value } from '../workflows/value.ts'
import { useMcpTool } from './mcp.ts'
import { type ToolBody, type ToolRow, toolRow } from './rows.ts'
import { isFor } from './scopes.ts'
import { type ToolStats, Uses } from './stats.ts'

/** Tools of one user, and of all admins together. */
const most = 100

/** Who uses a tool, and with what. */
export interface ToolUse {
  readonly args: Value
  readonly run: Pick<RunRow, 'id' | 'principal' | 'project' | 'ip' | 'workflow_slug'>
}

/** The tools, and their use. */
export class Tools {
  readonly known: OwnedRows<ToolRow>
  readonly json: SealedJson
  readonly schemas: Schemas
  readonly #context: Context<Settings>
  readonly #rows: Collection<ToolRow>
  readonly #uses: Uses

  private constructor(context: Context<Settings>, json: SealedJson, schemas: Schemas, uses: Uses) {
    this.#context = context
    this.json = json
    this.schemas = schemas
    this.#uses = uses
    this.#rows = context.store.collection('tools', { schema: toolRow })
    this.known = new OwnedRows(this.#rows, 'tool')
  }

  static async open(context: Context<Settings>, json: SealedJson, schemas: Schemas): Promise<Tools> {
    const tools = new Tools(context, json, schemas, new Uses(await context.store.counters('tools')))
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
    this.#uses.forget(row.id)
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
    return this.#uses.of(id)
  }

  /**
   * Whether a person has to decide over a use before it is made. A use that fails in any case need not be decided. Throws a `StepFault`
   * for one that a trust policy refuses.
   */
  async isAsked(id: string, use: () => ToolUse, wasAsked: boolean, by: StoredPrincipal): Promise<boolean> {
    const row = this.get(id)
    if (!row?.enabled || !(await this.#isFor(row, by))) return false
    return row.approval === 'policy' ? wasAsked || this.#policiesAsk(row, use()) : row.approval === 'always'
  }

  /** Uses a tool; the arguments must match its schema. Throws a `StepFault`. */
  async use(id: string, { args, run }: ToolUse, signal: AbortSignal): Promise<Value> {
    const row = this.get(id)
    if (!row?.enabled) throw new StepFault('tool_missing', 'The tool is gone, or switched off.')
    if (!mayRequest(row.user_id, this.#context.settings))
      throw new StepFault('forbidden', 'Only tools of admins may send requests.')
    if (!(await this.#isFor(row, run.principal)))
      throw new StepFault('forbidden', `The tool ${row.slug} is not for the caller who began the run.`)
    const body = await this.read(row)
    await this.#check(
      body.schema,
      args,
      'arguments_invalid',
      'The arguments do not match the schema of the tool',
    )
    return this.#uses.counted(id, () => this.#sent(row, body, args, signal))
  }

  #isFor({ scopes }: ToolRow, by: StoredPrincipal): Promise<boolean> {
    return isFor(scopes, by, this.#context.use(kernelServices.accounts).keys)
  }

  /** Where nothing tells of policies, a person decides. What redacts cannot be done to arguments, so a person decides then, too. */
  #policiesAsk({ id, slug }: ToolRow, { args, run }: ToolUse): boolean {
    const policies = this.#context.find(TrustPolicies)
    if (!policies?.judgeUse) return true
    const { principal, project, ip, workflow_slug: workflow } = run
    const violated = policies.judgeUse({
      tool: slug,
      toolId: id,
      arguments: JSON.stringify(args),
      runId: run.id,
      principal,
      project,
      ip,
      tags: { workflow },
    })
    const acting = violated.filter(({ shadow }) => !shadow)
    const blocking = acting.find(({ action }) => action === 'block')
    if (blocking)
      throw new StepFault(
        'policy_violation',
        `The trust policy ${blocking.policyId} does not allow this use of the tool ${slug}.`,
      )
    return acting.some(({ action }) => action !== 'log')
  }

  async #sent(row: ToolRow, body: ToolBody, args: Value, signal: AbortSignal): Promise<Value> {
    const time = AbortSignal.timeout(row.timeout_ms)
    try {
      const said = await this.#said(row, body, args, AbortSignal.any([signal, time]))
      if (body.output_schema)
        await this.#check(
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

  async #said(row: ToolRow, body: ToolBody, args: Value, signal: AbortSignal): Promise<Value> {
    const { fetch, settings } = this.#context
    const { max_input_bytes: mostBytes } = settings
    const headers = this.#headersOf(row, body)
    // Another place that a service names must not get the credentials.
    const asked: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'manual' })
    if (row.type === 'mcp') {
      const { version } = this.#context.use(kernelServices.runtime)
      const server = { fetch: asked, url: body.url, headers, signal, mostBytes, version }
      return useMcpTool(server, body.tool ?? row.slug, args)
    }
    const output = await runHttp(asked, requestOf(body, headers, args), signal, mostBytes)
    return (output as { body: Value }).body
  }

  async #check(schema: Record<string, unknown>, value: Value, code: string, what: string): Promise<void> {
    const problem = await problemIn(this.schemas, schema, value)
    if (problem !== undefined) throw new StepFault(code, `${what}: ${problem}.`)
  }

  #headersOf(
    { headers, slug, user_id }: ToolRow,
    { auth_ref, auth_header }: ToolBody,
  ): Record<string, string> {
    const { use } = this.#context
    const own: Record<string, string> =
      headers === undefined ? {} : JSON.parse(use(kernelServices.secrets).decrypt(headers))
    if (auth_ref === undefined) return own
    const { secrets } = use(kernelServices.config)
    const secret = user_id === undefined && Object.hasOwn(secrets, auth_ref) ? secrets[auth_ref] : undefined
    if (!secret)
      throw new StepFault('secret_missing', `The tool ${slug} needs secrets.${auth_ref} in service.yaml.`)
    const name = auth_header ?? 'authorization'
    const others = Object.entries(own).filter(([other]) => other.toLowerCase() !== name.toLowerCase())
    return { ...Object.fromEntries(others), [name]: auth_header === undefined ? `Bearer ${secret}` : secret }
  }
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
