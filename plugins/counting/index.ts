import { z } from 'zod'
import {
  type Budget,
  type Claim,
  Counting,
  defineArea,
  newId,
  ThreadEnded,
  type WindowOptions,
} from '#kernel'
import { type Asked, Ledger } from './ledger.ts'
import { emptyLedger } from './ledger-state.ts'
import { Saved } from './saved.ts'
import { sharedWindows } from './shared.ts'
import { surely } from './surely.ts'
import { emptyWindows, windowsIn } from './windows.ts'

const writeMs = 1_000
const sweepMs = 60_000

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const { memory, store, every, on, own, provide, askFirstThread } = context
    const origin = memory('origin', () => Date.now() - performance.now())
    /** Whole milliseconds: times that are added to them and taken away again are exact. */
    const clock = (): number => Math.floor(origin + performance.now())
    const state = memory('ledger', emptyLedger)
    const ledger = new Ledger(state, () => ({ at: clock(), wall: Date.now() }))
    const saved = new Saved(store, ledger, state)
    const windowState = memory('windows', emptyWindows)
    const windows = (name: string, options: WindowOptions) => windowsIn(windowState, name, options, clock)

    const owner = newId('thr')
    const reserve = askFirstThread('reserve', (asked: Asked, thread) => ledger.reserve(asked, thread))
    const settle = askFirstThread('settle', ({ id, used }: { id: string; used: Record<string, number> }) =>
      ledger.settle(id, used),
    )
    const left = askFirstThread('left', (of: { budget: string; claims: readonly Claim[] }) =>
      ledger.left(of.budget, of.claims),
    )
    const flush = askFirstThread('flush', () => saved.flush().then(() => true))

    /** The first thread answers itself, the others wait for it. */
    const isFirst = !(left({ budget: '', claims: [] }) instanceof Promise)
    if (isFirst) {
      if (!state.isLoaded) await saved.load()
      own(() => saved.flush())
    }
    every(writeMs, () => saved.write())
    every(sweepMs, () => ledger.sweep())
    on(ThreadEnded, ({ thread }) => ledger.lose(thread))

    const budget = (name: string): Budget => ({
      reserve: (claims, { leaseMs } = {}) => surely(reserve({ budget: name, claims, owner, leaseMs })),
      settle: ({ id }, used) => surely(settle({ id, used })),
      left: (claims) => surely(left({ budget: name, claims })),
      flush: async () => void (await surely(flush(undefined))),
    })
    provide(Counting, { budget, windows, sharedWindows: sharedWindows(context, windows) })
  },
})
