import { expect } from 'vitest'
import type { TestGateway } from '../harness.ts'
import { traceOf } from '../trace.ts'
import type { RecordedRequest, Script, Upstream } from '../upstream/index.ts'
import type { Departure, TestProvider } from './providers/provider.ts'
import type { Answer, Ask, ClientWire, Problem, WireClient } from './wires/client.ts'

/**
 * Whether it asks for an answer: the gateway may still have the tokens counted of a call before, which was broken off, and asks for the
 * provider's models now and then.
 */
const isCall = ({ method, path }: RecordedRequest): boolean =>
  method === 'POST' && !/count.?tokens/i.test(path)

/** One cell of the table while it is tested: a client's wire, a provider, and what lies between them. */
export class Cell {
  readonly wire: ClientWire
  readonly provider: TestProvider
  readonly client: WireClient
  readonly gateway: TestGateway
  readonly upstream: Upstream
  readonly departure: Departure | undefined

  constructor(parts: Pick<Cell, 'wire' | 'provider' | 'client' | 'gateway' | 'upstream' | 'departure'>) {
    this.wire = parts.wire
    this.provider = parts.provider
    this.client = parts.client
    this.gateway = parts.gateway
    this.upstream = parts.upstream
    this.departure = parts.departure
  }

  /** Asks this cell's provider; for a user's `hi` when nothing is given. */
  ask(fields: Partial<Ask> = {}): Promise<Answer> {
    return this.client.ask({ model: this.model(), turns: [{ text: 'hi' }], ...fields })
  }

  /** How the gateway is asked for a model of this provider. */
  model(kind: 'chat' | 'reasoning' = 'chat'): string {
    const { name, models } = this.provider
    const chosen = this.wire.operation === 'completion' ? models.completion : models[kind]
    return `${name}/${chosen ?? models.chat}`
  }

  /** Has the provider answer the next call so. */
  reply(script: Script): void {
    this.upstream.reply(isCall, script)
  }

  /** What the provider was asked for answers. */
  get calls(): readonly RecordedRequest[] {
    return this.upstream.requests.filter(isCall)
  }

  /** The last of them. */
  get sent(): RecordedRequest {
    return this.calls.at(-1)!
  }

  /** What stands at a place of the last request. */
  at(place: string): unknown {
    return place
      .split('.')
      .reduce<unknown>(
        (node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined),
        this.sent.body,
      )
  }

  /** Nothing of what was asked was left out. */
  expectWhole({ headers }: Answer): void {
    expect(changesIn(headers).filter((change) => change.startsWith('-'))).toEqual([])
  }

  /** What this cell's departure says holds for an answer, or for the error of a call. */
  async expectDeparture(asked: Promise<Answer>): Promise<void> {
    const { as, what } = this.departure!
    if (as === 'dropped') {
      const { headers } = await asked
      expect(changesIn(headers)).toContain(`-${what}`)
      expect((await this.trace(headers)).params_changed).toContain(`-${what}`)
      return
    }
    expect(await this.problem(asked)).toMatchObject({ status: 400, param: what })
    expect(this.calls).toHaveLength(0)
  }

  /** The error of a call, in the words of its wire. */
  async problem(asked: Promise<Answer>): Promise<Problem> {
    const thrown: unknown = await asked.then(
      () => undefined,
      (error: unknown) => error,
    )
    const problem = this.client.problemOf(thrown)
    if (!problem) throw new Error('the call brought no error of its wire', { cause: thrown })
    return problem
  }

  trace(headers: Headers): Promise<Record<string, unknown>> {
    return traceOf(this.gateway, { headers })
  }
}

const changesIn = (headers: Headers): string[] => headers.get('x-params-changed')?.split(', ') ?? []
