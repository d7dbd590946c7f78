import { type Claim, type Context, Counting, Plans, type Principal, tiers } from '#kernel'
import { detach } from '#kit'

/** Routed calls that a user below the tier has in a day, where plans are enforced. */
const mostADay = 100
const tier = 'pro'
const dayMs = 86_400_000

export interface CapStanding {
  readonly used: number
  /** Undefined where there is none. */
  readonly limit: number | undefined
}

/** The routed calls of a day that users of smaller plans have. Each is counted once, over all threads. */
export class Cap {
  readonly #context: Pick<Context<unknown>, 'find' | 'use'>

  constructor(context: Pick<Context<unknown>, 'find' | 'use'>) {
    this.#context = context
  }

  /** Whether any caller may have a limit. */
  get actsHere(): boolean {
    return this.#context.find(Plans)?.actsHere ?? false
  }

  /** Takes one call of the day; false when they are used up, of which the user is told once a day. */
  async take(principal: Principal): Promise<boolean> {
    const claim = this.#claimOf(principal)
    if (!claim) return true
    const held = await this.#budget().reserve([claim])
    if (held.granted) await this.#budget().settle(held, { requests: 1 })
    else detach('a cap of autopilot', this.#tell(principal))
    return held.granted
  }

  async standing(principal: Principal): Promise<CapStanding> {
    const claim = this.#claimOf(principal)
    if (!claim) return { used: 0, limit: undefined }
    const [left] = await this.#budget().left([claim])
    return { used: left!.used, limit: mostADay }
  }

  #budget() {
    return this.#context.use(Counting).budget('autopilot')
  }

  #claimOf(principal: Principal): Claim | undefined {
    const has = this.#context.find(Plans)?.tierOf(principal)
    if (has === undefined || tiers.indexOf(has) >= tiers.indexOf(tier)) return undefined
    const name = principal.userId === undefined ? 'installation' : `user:${principal.userId}`
    return { name, unit: 'requests', limit: { kind: 'day', most: mostADay, timezone: 'UTC' }, amount: 1 }
  }

  async #tell({ userId }: Principal): Promise<void> {
    const day = new Date().toISOString().slice(0, 10)
    await this.#context.use(Plans).suggest({
      trigger: 'autoroute_cap_reached',
      userId,
      period: day,
      until: Date.parse(day) + dayMs,
      priority: 'medium',
      title: 'The routed calls of today are used up',
      message: `Autopilot has routed ${mostADay} calls today. Until tomorrow (UTC) the reference model answers.`,
      targetTier: tier,
      details: { limit: mostADay },
    })
  }
}
