import type { Collection, OnceContext } from '#kernel'
import { followRows } from '#kit'
import { CanaryMoved } from './events.ts'
import { begun, type Move, moved, pairOf, type Rollout, type Standing, standingSchema } from './rollout.ts'

/** A rollout of one configuration of the module. */
export interface Defined {
  /** Its name, with that of the binding in front. */
  readonly id: string
  readonly rollout: Rollout
}

type Parts = Pick<OnceContext, 'store' | 'emit' | 'report'>

/** How far rollouts are: on disk before it takes effect, and in the memory of every thread. */
export class Rollouts {
  readonly #rows: Collection<Standing>
  readonly #parts: Parts
  readonly #standings = new Map<string, Standing>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#rows = parts.store.collection('rollouts', { schema: standingSchema })
  }

  /** Takes in what is stored, and from then on every change of any thread; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.#rows, (id, row) => this.#take(id, row))
  }

  standing(id: string): Standing | undefined {
    return this.#standings.get(id)
  }

  /** Begins a rollout that was not begun, or that was one between other models. */
  async ensure({ id, rollout }: Defined): Promise<void> {
    const of = pairOf(rollout)
    if (this.#standings.get(id)?.of === of) return
    const row = await this.#rows.update(id, (row) =>
      row?.of === of ? undefined : begun(rollout, of, (row?.run ?? 0) + 1, 'begun'),
    )
    if (row) this.#take(id, row)
  }

  /** Begins again at the first step. */
  async restart({ id, rollout }: Defined): Promise<void> {
    const row = await this.#rows.update(id, (row) =>
      begun(rollout, pairOf(rollout), (row?.run ?? 0) + 1, 'restarted by an admin'),
    )
    this.#take(id, row)
  }

  /** Changes a rollout if it still is as the caller saw it; its event is stored with the change. False when it was not. */
  async move({ id, rollout }: Defined, seen: Standing, move: Move): Promise<boolean> {
    const { store, emit, report } = this.#parts
    const { model, target } = rollout
    const after = await store.transaction((tx) => {
      const row = tx.get(this.#rows, id)
      if (row?.run !== seen.run || row.status !== seen.status || row.percent !== seen.percent)
        return undefined
      const after = moved(row, move)
      tx.put(this.#rows, id, after)
      const told = { rollout: id, model, target, from_percent: row.percent, ...move }
      emit(CanaryMoved[move.status], told, { in: tx })
      return after
    })
    if (!after) return false
    this.#take(id, after)
    report(move.status, `${id}: ${move.percent} % to ${target}; ${move.reason}`)
    return true
  }

  #take(id: string, row: Standing | undefined): void {
    if (row) this.#standings.set(id, row)
    else this.#standings.delete(id)
  }
}
