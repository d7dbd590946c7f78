import { type Awaitable, type Context, type Principal, SealedBodies, Sealing } from '#kernel'

export type Seal = (text: string) => string
/** Writes bodies as text, when there is room for them. */
export type TextOf = () => string | undefined

/** Seals bodies where a module asks for it, and opens them whether that module is still there or not. */
export interface BodySeals {
  /** The function that seals the bodies of this caller; undefined where they are stored as they are. */
  sealFor(owner: Principal): Awaitable<Seal | undefined>
  /** Stored bodies as they were; undefined after their owner's data was erased. */
  open(stored: string): Awaitable<string | undefined>
}

export function bodySeals({ id, find, use }: Context<unknown>): BodySeals {
  return {
    sealFor(owner) {
      const subject = find(SealedBodies)?.subjectOf(owner)
      return subject && use(Sealing).sealFor(id, subject)
    },
    // Bodies that are not sealed are JSON objects.
    open: (stored) => (stored.startsWith('{') ? stored : use(Sealing).open(id, stored)),
  }
}

/** Stores all bodies as they are. */
export const noSeals: BodySeals = { sealFor: () => undefined, open: (stored) => stored }

/** The same text, sealed. */
export function sealedBy(seal: Seal, textOf: TextOf): TextOf {
  return () => {
    const text = textOf()
    return text && seal(text)
  }
}
