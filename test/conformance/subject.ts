import type { Plugin } from '../../kernel/plugin/plugin-record.ts'
import type { Registry } from '../../kernel/plugin/registry.ts'
import type { TestGateway } from '../harness.ts'
import type { Upstream } from '../upstream/index.ts'
import { type Example, readExamples } from './example.ts'

/** A plugin under examination, in a gateway that knows it. */
export class Subject {
  readonly id: string
  readonly gateway: TestGateway
  readonly upstream: Upstream
  /** How often it is switched on and off to see what it leaves each time: more than once, which the gateway may do for itself. */
  readonly cycles: number = 3

  constructor(id: string, gateway: TestGateway, upstream: Upstream) {
    this.id = id
    this.gateway = gateway
    this.upstream = upstream
  }

  get registry(): Registry {
    return this.gateway.kernel.registry
  }

  get plugin(): Plugin {
    return this.registry.get(this.id)
  }

  /** Where its code lies. */
  get folders(): string[] {
    const { folder, staged } = this.plugin.found
    return [folder, ...(staged ? [staged.root] : [])]
  }

  examples(): Promise<Example[]> {
    return readExamples(this.plugin.found.folder)
  }

  async switchOn(config: Record<string, unknown> = {}): Promise<void> {
    await this.registry.change(this.id, { enabled: true, config })
  }

  async switchOff(): Promise<void> {
    await this.registry.change(this.id, { enabled: false })
  }

  /** Switched on with these settings and none that it had before. */
  async switchOnAfresh(config: Record<string, unknown>): Promise<void> {
    const had = Object.keys(this.plugin.stored?.config ?? {})
    const cleared = Object.fromEntries(had.map((name) => [name, null]))
    await this.registry.change(this.id, { enabled: false, config: cleared })
    await this.switchOn(config)
  }
}
