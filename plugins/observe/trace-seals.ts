import { type Context, Sealing } from '#kernel'
import { type BodySeals, bodySeals, type Seal } from '#kit'
import type { TraceRow } from './row.ts'

/** Seals bodies and words of traces where a module asks for it, and opens them whether that module is still there or not. */
export interface TraceSeals extends BodySeals {
  /** What may stand in the index for the id of a session that is sealed; the first is what it is written under. */
  namesOf(session: string): readonly string[]
}

export const traceSeals = (context: Context<unknown>): TraceSeals => ({
  ...bodySeals(context, () => context.use(Sealing)),
  namesOf: (session) => context.find(Sealing)?.namesOf(context.id, session) ?? [],
})

/** Stores everything as it is. */
export const noSeals: TraceSeals = {
  sealFor: () => undefined,
  open: (stored) => stored,
  tryOpen: async (stored) => stored,
  namesOf: () => [],
}

/** Writes bodies as text, when there is room for them. */
export type TextOf = () => string | undefined

/** The same text, sealed. */
export function sealedBy(seal: Seal, textOf: TextOf): TextOf {
  return () => {
    const text = textOf()
    return text && seal(text)
  }
}

/** What a row says in the words of its client and of providers: ids that the client chose, and errors, which may quote it. */
interface Words {
  readonly request_id?: string | undefined
  readonly session_id?: string | undefined
  readonly error?: string | undefined
  readonly attempts: readonly (string | undefined)[]
}

const noWords: Words = { attempts: [] }

const hidden = '[sealed]'

/** The row with its words sealed; without `seal` they are left out. A session still is what its traces are found by. */
export function sealedRow(row: TraceRow, seals: Pick<TraceSeals, 'namesOf'>, seal?: Seal): TraceRow {
  const { request_id, session_id, error, attempts } = row
  const said = attempts.map(({ error }) => error)
  if ([request_id, session_id, error, ...said].every((word) => word === undefined)) return row
  const words: Words = { request_id, session_id, error: error?.message, attempts: said }
  return {
    ...row,
    request_id: undefined,
    session_id: session_id === undefined ? undefined : seals.namesOf(session_id)[0],
    error: error && { ...error, message: hidden },
    attempts: attempts.map((one) => (one.error === undefined ? one : { ...one, error: hidden })),
    ...(seal && { words: seal(JSON.stringify(words)) }),
  }
}

/** The row as it was. Words that cannot be opened any more stay hidden, and the session is then not told either. */
export async function openedRow(row: TraceRow, seals: Pick<TraceSeals, 'tryOpen'>): Promise<TraceRow> {
  const { words: sealed, ...rest } = row
  if (sealed === undefined) return row
  const text = await seals.tryOpen(sealed)
  const { request_id, session_id, error, attempts } =
    text === undefined ? noWords : (JSON.parse(text) as Words)
  return {
    ...rest,
    request_id,
    session_id,
    error: rest.error && { ...rest.error, message: error ?? rest.error.message },
    attempts: rest.attempts.map((one, n) => ({ ...one, error: attempts[n] ?? one.error })),
  }
}
