import type { Trail } from '../../call/trail.ts'
import type { TrailPart } from './messages.ts'

/** How much of a trail has crossed. */
export interface Crossed {
  notes: number
  decisions: number
  paramsChanged: number
}

/** What was added to a trail since the last time; undefined when nothing was. */
export function partOf(trail: Trail, crossed: Crossed): TrailPart | undefined {
  const part: TrailPart = {
    notes: trail.notes.slice(crossed.notes),
    decisions: trail.decisions.slice(crossed.decisions),
    paramsChanged: trail.paramsChanged.slice(crossed.paramsChanged),
    headers: trail.headers,
    facts: trail.facts,
  }
  crossed.notes = trail.notes.length
  crossed.decisions = trail.decisions.length
  crossed.paramsChanged = trail.paramsChanged.length
  const isEmpty = Object.values(part).every((value) => Object.keys(value).length === 0)
  return isEmpty ? undefined : part
}

/** Adds to a trail what was added to its counterpart. */
export function addPart(trail: Trail, part: TrailPart): void {
  trail.notes.push(...part.notes)
  trail.decisions.push(...part.decisions)
  trail.paramsChanged.push(...part.paramsChanged)
  for (const [name, value] of Object.entries(part.headers)) trail.header(name, value)
  Object.assign(trail.facts, part.facts)
}
