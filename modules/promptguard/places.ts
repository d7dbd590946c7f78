import type { TextLocation } from '#kernel'

/** Modules that bring in what an operator or the client itself has written. */
const trusted = new Set(['promptpad', 'chatmem'])

/** Whether a text comes from a tool or from retrieval: nobody who takes part in the conversation has written it. */
export const isForeign = ({ role, kind, origin }: TextLocation): boolean =>
  kind === 'content' &&
  (origin === undefined ? role === 'tool' || role === 'function' : !trusted.has(origin.split('/')[0]!))

/** Whether a text can attack: the operator's own words and the model's cannot. */
export const isSearched = (place: TextLocation): boolean =>
  isForeign(place) || place.kind === 'parameter' || (place.kind === 'content' && place.role === 'user')
