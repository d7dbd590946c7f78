import type { BodySeals, Seal } from '#kit'

/** Writes bodies as text, when there is room for them. */
export type TextOf = () => string | undefined

/** Stores all bodies as they are. */
export const noSeals: BodySeals = { sealFor: () => undefined, open: (stored) => stored }

/** The same text, sealed. */
export function sealedBy(seal: Seal, textOf: TextOf): TextOf {
  return () => {
    const text = textOf()
    return text && seal(text)
  }
}
