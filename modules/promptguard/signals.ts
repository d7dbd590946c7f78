import { others } from './accents.ts'
import { delimiters } from './delimiters.ts'
import { escapes } from './escapes.ts'
import { fishing, mentions } from './fishing.ts'
import { foreign } from './foreign.ts'
import { overrides } from './overrides.ts'
import { Passage } from './passage.ts'
import type { Signal } from './signal.ts'

/** All signals in a text, by what its words mean and how it is built; in no order. */
export function signalsIn(text: string, isForeign: boolean): Signal[] {
  const passage = new Passage(text, isForeign)
  return [
    ...overrides(passage),
    ...fishing(passage),
    ...mentions(passage),
    ...escapes(passage),
    ...others(passage),
    ...delimiters(text),
    ...(isForeign ? foreign(passage) : []),
  ]
}
