import type { Problem } from '../steps/fault.ts'
import type { Scope, Value } from '../workflows/value.ts'

/** How a step ended, or that it waits for a person. */
export type Ended =
  | { readonly status: 'completed'; readonly output: Value }
  | { readonly status: 'failed'; readonly problem: Problem; readonly path: string; readonly isFatal: boolean }
  | { readonly status: 'skipped' }
  | { readonly status: 'waiting' }

export const waiting: Ended = { status: 'waiting' }
export const skipped: Ended = { status: 'skipped' }

/** Whether the failure of a step ends what it is a part of. */
export const isFatal = ({ on_error }: { readonly on_error?: { readonly action: string } | undefined }) =>
  on_error?.action !== 'continue'

/**
 * Does things side by side. What ends fatally, or throws, ends the others by their signal, and is the result once all have
 * stopped; undefined when nothing did.
 */
export async function together(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => readonly Promise<Ended>[],
): Promise<Extract<Ended, { status: 'failed' }> | undefined> {
  const others = new AbortController()
  let first: { readonly ended: Ended } | { readonly thrown: unknown } | undefined
  const stop = (why: typeof first): void => {
    first ??= why
    others.abort()
  }
  const members = begin(AbortSignal.any([signal, others.signal])).map((member) =>
    member.then(
      (ended) => void (ended.status === 'failed' && ended.isFatal && stop({ ended })),
      (thrown: unknown) => stop({ thrown }),
    ),
  )
  await Promise.all(members)
  if (first && 'thrown' in first) throw first.thrown
  return first?.ended as Extract<Ended, { status: 'failed' }> | undefined
}

/** What the tags of a step show: the input, and the steps that ended before it. */
export function scopeOf(input: Value, ended: ReadonlyMap<string, Ended>): Scope {
  const steps = Object.fromEntries(Array.from(ended, ([id, end]) => [id, shown(end)]))
  return { ...steps, steps, input }
}

const shown = (ended: Ended) => ({
  status: ended.status,
  output: ended.status === 'completed' ? ended.output : null,
  error: ended.status === 'failed' ? ended.problem : null,
})
