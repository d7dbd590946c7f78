import { internalError } from '../../kit/errors.ts'
import { mostExactFirst } from '../../kit/http/path-forms.ts'
import { contain, detach } from '../../kit/work/contain.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { Rating } from '../call/outcome.ts'
import { Chain } from '../chain/chain.ts'
import type { Entry } from '../chain/entry.ts'
import type { Next } from '../chain/hooks.ts'
import { type Arrangement, type AttemptHooks, Delivery, type OwnKey } from '../contract/delivery.ts'
import { Pricing, TokenCounting } from '../contract/models.ts'
import type { PersonalData } from '../contract/personal-data.ts'
import type { Protocol, ProviderSpec } from '../contract/provider.ts'
import { Routing, type TargetHooks } from '../contract/routing.ts'
import type { Section } from '../contract/section.ts'
import { Tenants } from '../contract/tenants.ts'
import type { LiveRoute } from '../route.ts'
import type { Token } from '../token.ts'
import type { Instance } from './instance.ts'
import { Offers } from './offers.ts'
import { withOnce } from './once.ts'
import { moduleOf } from './plugin-record.ts'
import type { WireTable } from './wire-table.ts'

interface ChainOptions {
  readonly skip: readonly string[]
  readonly ownKey: OwnKey | undefined
  readonly before: ((attempt: Attempt, call: Call) => void) | undefined
}

/**
 * One immutable arrangement of everything that is switched on. A request leases the generation it began with, from first byte
 * to last; parts that only this generation holds are disposed when the last lease is over.
 */
export class Generation implements Arrangement {
  readonly number: number
  readonly chain: Chain
  /** The chain's entries in order. */
  readonly entries: readonly Entry[]
  /** The most exact paths first. */
  readonly routes: readonly LiveRoute[]
  readonly wires: WireTable
  readonly protocols: ReadonlyMap<string, Protocol>
  readonly services: ReadonlyMap<Token<unknown>, unknown>
  /** Parts of the configuration that plugins keep, by their names. */
  readonly sections: ReadonlyMap<string, Section>
  readonly providers: ReadonlyMap<string, ProviderSpec>
  readonly attempts: AttemptHooks
  readonly targets: TargetHooks | undefined
  /** The costs and the usage of calls, as far as a plugin offers them. */
  readonly rating: Rating
  /** The personal data that plugins keep. */
  readonly personal: readonly { readonly plugin: string; readonly data: PersonalData }[]
  /** Says which tenant users belong to, if a plugin does. */
  readonly tenants: Tenants | undefined
  readonly #carry: Delivery
  readonly #deliver: Next
  readonly #isProvider: Routing['isProvider']
  /** Let go of its instances. */
  readonly #releases: readonly ReturnType<Instance['hold']>[]
  readonly #inner = new Map<string, Chain>()
  readonly #onError: (error: unknown) => void
  /** The kernel's own lease is the first. */
  #leases = 1
  #gone = Promise.withResolvers<void>()

  /** Throws, holding nothing, when two instances claim the same thing. */
  constructor(
    number: number,
    instances: readonly Instance[],
    entries: readonly Entry[],
    providers: ReadonlyMap<string, ProviderSpec>,
    onError: (error: unknown) => void,
  ) {
    this.number = number
    this.entries = entries
    this.#onError = onError
    const { wires, protocols, services, routes, sections } = new Offers(instances)
    this.sections = sections
    this.wires = wires
    this.protocols = protocols
    this.services = services
    this.routes = mostExactFirst(routes)
    this.providers = providers
    this.#carry = (services.get(Delivery) as Delivery | undefined) ?? undelivered
    this.#deliver = (call) => this.#carry(call, this)
    const routing = services.get(Routing) as Routing | undefined
    this.#isProvider = (name) => routing?.isProvider(name) ?? providers.has(name)
    this.chain = new Chain(entries, this.#deliver, this.#isProvider)
    this.attempts = attemptsOf(this.chain)
    this.targets = this.chain.targets
    this.rating = {
      prices: services.get(Pricing) as Pricing | undefined,
      tokens: services.get(TokenCounting) as TokenCounting | undefined,
    }
    this.personal = withOnce(instances).flatMap(({ id: plugin, personal }) =>
      personal.map((data) => ({ plugin, data })),
    )
    this.tenants = services.get(Tenants) as Tenants | undefined
    this.#releases = instances.map((instance) => instance.hold())
  }

  /** The parts that route and deliver calls, without one module: the chain of the calls that this module makes itself. */
  innerChain(without: string): Chain {
    let chain = this.#inner.get(without)
    if (!chain) {
      const inner = this.entries.filter(
        ({ id, stage }) => id !== without && (stage === 'route' || stage === 'deliver'),
      )
      chain = new Chain(inner, this.#deliver, this.#isProvider)
      this.#inner.set(without, chain)
    }
    return chain
  }

  /** The chain for one call that is not like the others: without some modules, with a key of its own, and asked before each attempt. */
  chainFor({ skip, ownKey, before }: ChainOptions): Chain {
    const { providers, protocols, services } = this
    const kept = this.entries.filter(({ id }) => !skip.includes(moduleOf(id)))
    const chain: Chain = new Chain(kept, (call) => this.#carry(call, on, ownKey), this.#isProvider)
    const attempts = attemptsOf(chain, before)
    const on: Arrangement = { providers, protocols, services, attempts, targets: chain.targets }
    return chain
  }

  /** Takes a lease; `release` must follow exactly once. */
  lease(): void {
    this.#leases += 1
  }

  release(): void {
    this.#leases -= 1
    if (this.#leases === 0) detach('the end of a generation', this.#leave())
  }

  get leases(): number {
    return this.#leases
  }

  /**
   * Gives up the kernel's own lease. Resolves when the last call has left and the instances that no other generation holds are disposed, or
   * when the deadline has passed and the stragglers' instances were disposed under them.
   */
  async retire(deadlineMs: number): Promise<void> {
    this.release()
    const timer = setTimeout(
      contain('the end of a generation', () => this.#leave()),
      deadlineMs,
    )
    timer.unref()
    await this.#gone.promise
    clearTimeout(timer)
  }

  #left = false

  async #leave(): Promise<void> {
    if (this.#left) return
    this.#left = true
    const results = await Promise.allSettled(this.#releases.map((release) => release()))
    for (const result of results) if (result.status === 'rejected') this.#onError(result.reason)
    this.#gone.resolve()
  }
}

/** The modules' hooks around attempts; `before` is asked first. */
const attemptsOf = (chain: Chain, before?: ChainOptions['before']): AttemptHooks => ({
  before(attempt, call, headers) {
    before?.(attempt, call)
    return chain.attempt(attempt, call, headers)
  },
  search: (texts, call) => chain.search(texts, call),
  after: (attempt, call) => chain.attempted(attempt, call),
  ended: chain.attemptEnded,
})

const undelivered: Delivery = async () => {
  throw internalError('The plugin that carries calls to providers is not switched on.')
}
