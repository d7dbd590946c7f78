import type { z } from 'zod'

/**
 * The part of an answer that may leave: the fields that its schema names. Rows of a listing that do not fit are left out and
 * counted, so that one that was stored by mistake does not hide the others; `leftOut` receives the reason. Throws the schema's error
 * for any other misfit.
 */
export function fitting(returns: z.ZodType, result: unknown, leftOut: (error: z.ZodError) => void): unknown {
  const { success, data, error } = returns.safeParse(result)
  if (success) return data
  const rest = countsUnreadable(returns) && withoutRows(result as Answer, error)
  if (!rest) throw error
  leftOut(error)
  return returns.parse(rest)
}

type Answer = Readonly<Record<string, unknown>> & { readonly unreadable?: number }

const countsUnreadable = (returns: z.ZodType): boolean =>
  'shape' in returns && Object.hasOwn(returns.shape as object, 'unreadable')

/** The answer without the rows that have an issue; undefined when something else has one. */
function withoutRows(answer: Answer, { issues }: z.ZodError): Answer | undefined {
  const unfit = new Map<string, Set<unknown>>()
  for (const { path } of issues) {
    const [field, at] = path
    if (typeof field !== 'string' || typeof at !== 'number' || !Array.isArray(answer[field])) return undefined
    unfit.set(field, (unfit.get(field) ?? new Set()).add(at))
  }
  let { unreadable = 0 } = answer
  const rest = Object.entries(answer).map(([name, value]) => {
    const gone = unfit.get(name)
    if (!gone) return [name, value]
    unreadable += gone.size
    return [name, (value as unknown[]).filter((_, at) => !gone.has(at))]
  })
  return { ...Object.fromEntries(rest), unreadable }
}
