import type { Counters } from '../index.ts'
import { checkAmount, sortedEntries } from '../level/counters.ts'
import { addUp } from '../level/whole.ts'
import type { GuestParts } from './guest-part.ts'
import type { CounterStep } from './messages.ts'

/**
 * Counters in a thread without the store: a copy of their values. A change made here shows here at once, and crosses soon
 * after; a change made elsewhere shows here when its message arrives.
 */
export class GuestCounters implements Counters {
  readonly #parts: GuestParts
  readonly #values: Map<string, number>
  /** Steps that have not crossed, and sums among them that can still grow. */
  #waiting: CounterStep[] = []
  readonly #growing = new Map<string, number>()
  /** Steps that have crossed and are not confirmed. */
  readonly #crossing = new Set<readonly CounterStep[]>()
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined

  private constructor(parts: GuestParts, values: Map<string, number>) {
    this.#parts = parts
    this.#values = values
  }

  static async load(parts: GuestParts): Promise<GuestCounters> {
    return new GuestCounters(parts, new Map((await parts.ask('load')) as [string, number][]))
  }

  add(name: string, amount: number): void {
    checkAmount(amount, this.#parts.path)
    this.#keep(name, addUp(this.get(name), amount))
    const at = this.#growing.get(name)
    if (at === undefined) this.#growing.set(name, this.#push(['add', name, amount]))
    else this.#waiting[at] = ['add', name, addUp(this.#waiting[at]![2], amount)]
  }

  get(name: string): number {
    return this.#values.get(name) ?? 0
  }

  entries(prefix = ''): Array<[name: string, value: number]> {
    return sortedEntries(this.#values, prefix)
  }

  set(name: string, value: number): void {
    checkAmount(value, this.#parts.path)
    this.#keep(name, value)
    this.#growing.delete(name)
    this.#push(['set', name, value])
  }

  /** Crosses also when the counter is not here: another thread may have counted what has not arrived. */
  delete(name: string): void {
    this.#parts.gate.check()
    this.#values.delete(name)
    this.#growing.delete(name)
    this.#push(['delete', name, 0])
  }

  clear(prefix: string): void {
    this.#parts.gate.check()
    const step: CounterStep = ['clear', prefix, 0]
    apply(this.#values, step)
    this.#growing.clear()
    this.#push(step)
  }

  flush(): Promise<void> {
    return this.#parts.gate.run(async () => {
      await this.cross()
      await this.#parts.ask('flush')
    })
  }

  /** Sends what has not crossed; resolves when it is confirmed. */
  async cross(): Promise<void> {
    clearTimeout(this.#timer as NodeJS.Timeout)
    clearImmediate(this.#timer as NodeJS.Immediate)
    this.#timer = undefined
    if (this.#waiting.length === 0) return
    const steps = this.#waiting
    this.#waiting = []
    this.#growing.clear()
    this.#crossing.add(steps)
    try {
      await this.#parts.ask('change', steps)
    } finally {
      this.#crossing.delete(steps)
    }
  }

  /** Takes in what was done elsewhere: it came before all steps of this thread that are not confirmed. */
  take(steps: readonly CounterStep[]): void {
    const later = [...this.#crossing, this.#waiting].flat()
    const replacing = later.filter(([kind]) => kind !== 'add')
    for (const step of steps) {
      const [kind, name, amount] = step
      if (kind !== 'add') {
        apply(this.#values, step)
        for (const own of later) apply(this.#values, own, (counter) => concerns(step, counter))
      } else if (!replacing.some((own) => concerns(own, name)))
        this.#values.set(name, addUp(this.get(name), amount))
    }
  }

  #push(step: CounterStep): number {
    const { crossMs, failed } = this.#parts
    const cross = (): void => void this.cross().catch(failed)
    if (crossMs === 0) this.#timer ??= setImmediate(cross)
    else this.#timer ??= setTimeout(cross, crossMs).unref()
    return this.#waiting.push(step) - 1
  }

  #keep(name: string, value: number): void {
    this.#parts.gate.check()
    this.#values.set(name, value)
  }
}

/** Whether a step changes this counter. */
const concerns = ([kind, name]: CounterStep, counter: string): boolean =>
  kind === 'clear' ? counter.startsWith(name) : counter === name

/** Does a step to the counters that are meant. */
function apply(
  values: Map<string, number>,
  [kind, name, amount]: CounterStep,
  isMeant: (counter: string) => boolean = () => true,
): void {
  if (kind === 'clear') {
    for (const counter of values.keys())
      if (counter.startsWith(name) && isMeant(counter)) values.delete(counter)
  } else if (isMeant(name)) {
    if (kind === 'delete') values.delete(name)
    else values.set(name, kind === 'set' ? amount : addUp(values.get(name) ?? 0, amount))
  }
}
