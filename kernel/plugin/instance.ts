import { Scope } from '../../kit/work/scope.ts'
import type { Wire } from '../call/wire.ts'
import type { ChainHooks } from '../chain/batches.ts'
import type { Context } from '../contract/context.ts'
import type { PersonalData } from '../contract/personal-data.ts'
import type { Protocol } from '../contract/provider.ts'
import type { Section } from '../contract/section.ts'
import type { Discovered } from '../discovery/manifest.ts'
import type { Log } from '../log.ts'
import type { LiveRoute } from '../route.ts'
import type { Token } from '../token.ts'

/** How long a plugin may take to release one thing that it acquired, in milliseconds. */
const releaseMs = 10_000

/** The parts that one setup of a plugin made: collected first, put to work by a generation. */
export class Instance {
  readonly id: string
  readonly scope: Scope
  /** In shadow it has no effect on calls. */
  mode: Context<unknown>['mode'] = 'enforce'
  /** The part that its module has once, which the instance keeps as long as it lasts. */
  once: Once | undefined
  hooks: ChainHooks = {}
  /** What it needs and has not, by its own word: it runs nevertheless. */
  lacks: string | undefined
  readonly routes: LiveRoute[] = []
  readonly wires: Wire[] = []
  readonly protocols: Protocol[] = []
  readonly sections: Section[] = []
  /** Checks of the configuration that run once everything has started. */
  readonly checks: (() => readonly string[])[] = []
  readonly personal: PersonalData[] = []
  readonly services = new Map<Token<unknown>, unknown>()
  /** What begins when it answers calls; undefined when it has begun. */
  begins: (() => unknown)[] | undefined = []
  #holders = 0

  constructor(id: string) {
    this.id = id
    this.scope = new Scope(id, releaseMs)
  }

  /** Keeps it until what this returns is called; the last one to let go disposes of it. */
  hold(): () => Promise<void> | undefined {
    this.#holders += 1
    return () => {
      this.#holders -= 1
      return this.#holders === 0 ? this.scope.dispose() : undefined
    }
  }
}

/** The part that a module has once, however many configurations of it run. It lasts as long as one of them does. */
export interface Once {
  /** The resources and offers that it made, which each configuration holds. */
  readonly instance: Instance
  /** The value that setup gets. */
  readonly value: unknown
  /** The code that made it: other code makes its own. */
  readonly found: Discovered
}

/** Gives back all that an instance has acquired; what cannot be given back is logged. */
export const giveBack = ({ id, scope }: Instance, log: Log): Promise<void> =>
  scope.dispose().catch((err) => log.error({ plugin: id, err }, 'a plugin could not release everything'))

/** Begins what waits until the instance answers calls. */
export function goLive(instance: Instance): void {
  const { begins = [] } = instance
  instance.begins = undefined
  for (const begin of begins) begin()
}
