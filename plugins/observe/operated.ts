import type { TraceRow } from './row.ts'

/** The effect of one module in one of its hooks. */
interface Operated {
  readonly module: string
  readonly hook: string | null
  readonly mode: 'enforce' | 'shadow'
  readonly verdict: string
  readonly ms: number
  /** Paths of what it changed: of the request in its first hook, of the answer in its last one. */
  readonly changed: readonly string[]
  /** Bytes of JSON that this added; null where it changed nothing, and where they are not known. */
  readonly bytes_delta: number | null
  readonly detail: Record<string, unknown> | null
}

type Timing = TraceRow['timings'][number]
type Note = TraceRow['notes'][number]

/**
 * The effects of the modules, in the order in which they ran. A note belongs to the first hook of its module, or to the last
 * one when it is about the reply; a hook that left no note passed.
 */
export function operatedModules({
  timings,
  notes,
  shadows = [],
  changes = [],
}: Pick<TraceRow, 'timings' | 'notes' | 'shadows' | 'changes'>): Operated[] {
  const all = listed({ timings, notes }).map(
    (operated): Operated => (shadows.includes(operated.module) ? { ...operated, mode: 'shadow' } : operated),
  )
  for (const [module, of, differences, bytes] of changes) {
    const isOwn = (operated: Operated): boolean => operated.module === module
    const at = of === 'request' ? all.findIndex(isOwn) : all.findLastIndex(isOwn)
    const operated = all[at]
    if (!operated) continue
    const paths = [...operated.changed, ...differences.map(({ path }) => path)]
    const bytes_delta = bytes === undefined ? operated.bytes_delta : (operated.bytes_delta ?? 0) + bytes
    all[at] = { ...operated, changed: [...new Set(paths)], bytes_delta }
  }
  return all
}

function listed({ timings, notes }: Pick<TraceRow, 'timings' | 'notes'>): Operated[] {
  const left = new Set(notes)
  const operated = timings.flatMap((timing) => {
    const own = notes.filter((note) => left.has(note) && timingOf(note, timings) === timing)
    for (const note of own) left.delete(note)
    return own.length === 0
      ? [passed(timing)]
      : own.map((note, i) => noted(note, i === 0 ? timing : free(timing)))
  })
  return [...operated, ...[...left].map((note) => noted(note, undefined))]
}

function timingOf([module, , detail]: Note, timings: readonly Timing[]): Timing | undefined {
  const own = timings.filter(([name]) => name === module)
  return detail?.direction === 'reply' ? own.at(-1) : own[0]
}

/** The same hook, its time counted already. */
const free = ([module, hook]: Timing): Timing => [module, hook, 0]

const passed = ([module, hook, us]: Timing): Operated => ({
  module,
  hook,
  mode: 'enforce',
  verdict: 'passed',
  ms: us / 1000,
  changed: [],
  bytes_delta: null,
  detail: null,
})

const noted = ([module, verdict, detail]: Note, timing: Timing | undefined): Operated => ({
  module,
  hook: timing?.[1] ?? null,
  mode: 'enforce',
  verdict,
  ms: (timing?.[2] ?? 0) / 1000,
  changed: [],
  bytes_delta: null,
  detail: detail ? { ...detail } : null,
})
