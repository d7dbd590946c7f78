import fc from 'fast-check'
import { cut } from './scanning.ts'

export * from './scanning.ts'

/** A text and a way of cutting it, empty parts included. */
export const cutText = (texts: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  texts.chain((text) =>
    fc.array(fc.nat({ max: text.length }), { maxLength: 12 }).map((places) => cut(text, places)),
  )
