import { type Actor, type Context, kernelServices } from '#kernel'
import type { Configured } from './configured.ts'

/** The module whose hooks route. */
const moduleId = 'smartroute'

/**
 * Has the module of autopilot on while it has something to do, and off otherwise, so that calls cost nothing more while nobody
 * uses it. It follows the configuration at every start and every change.
 */
export class Switch {
  readonly #context: Pick<Context<unknown>, 'use'>
  readonly #configured: Configured
  #turn: Promise<unknown> = Promise.resolve()

  constructor(context: Pick<Context<unknown>, 'use'>, configured: Configured) {
    this.#context = context
    this.#configured = configured
  }

  /** Whether the module runs. */
  get isOn(): boolean {
    return this.#registry.find(moduleId)?.setting?.enabled === true
  }

  /** Resolves when the module is as the configuration wants it; rejects when it cannot be. */
  follow(actor?: Actor): Promise<void> {
    const turn = this.#turn.catch(() => {}).then(() => this.#follow(actor))
    this.#turn = turn
    return turn
  }

  async #follow(actor: Actor | undefined): Promise<void> {
    const { enabled, reference_model } = this.#configured.current
    const isWanted = enabled || reference_model !== null
    if (!this.#registry.find(moduleId) || this.isOn === isWanted) return
    await this.#registry.change(moduleId, { enabled: isWanted }, actor)
  }

  get #registry() {
    return this.#context.use(kernelServices.registry)
  }
}
