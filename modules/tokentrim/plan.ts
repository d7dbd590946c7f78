import type { Message } from '#kernel'
import { type Unit, unitsOf } from './units.ts'

export interface Keeping {
  /** From where messages go first. */
  readonly from: 'oldest' | 'middle'
  /** How many of the newest turns go last. */
  readonly turns: number
  isPinned(message: Message): boolean
}

/** What may be left out of a conversation, in the order in which it goes. */
export function droppable(messages: readonly Message[], { from, turns, isPinned }: Keeping): Unit[] {
  const { units, orphans } = unitsOf(messages)
  // Where the conversation ends is where the last of its results comes, which may be behind a later question.
  const last = units
    .filter(([at]) => !isInstruction(messages[at!]!))
    .reduce<Unit>((latest, unit) => (unit.at(-1)! > (latest.at(-1) ?? -1) ? unit : latest), [])
  const stays = (unit: Unit): boolean =>
    unit === last || unit.some((at) => isInstruction(messages[at]!) || isPinned(messages[at]!))
  const byTurn = turnsOf(units, messages)
  const newest = byTurn.slice(-turns)
  const old = byTurn.slice(0, -turns).map((turn) => turn.filter((unit) => !stays(unit)).flat())
  const question = (byTurn.at(-1) ?? []).filter(([at]) => messages[at!]!.role === 'user')
  const later = newest.flat().filter((unit) => !stays(unit) && !question.includes(unit))
  return [orphans, ...inOrder(old, from), ...later].filter(({ length }) => length > 0)
}

const isInstruction = ({ role }: Message): boolean => role === 'system' || role === 'developer'

/** Units by turn: a turn begins with what the user says, and goes on until the user speaks again. */
function turnsOf(units: readonly Unit[], messages: readonly Message[]): Unit[][] {
  const turns: Unit[][] = []
  let before: Message['role'] | undefined
  for (const unit of units) {
    const { role } = messages[unit[0]!]!
    if (turns.length === 0 || (role === 'user' && before !== 'user')) turns.push([])
    turns.at(-1)!.push(unit)
    if (role !== 'system' && role !== 'developer') before = role
  }
  return turns
}

function inOrder(turns: readonly Unit[], from: Keeping['from']): Unit[] {
  if (from === 'oldest') return [...turns]
  const middle = (turns.length - 1) / 2
  return turns
    .map((turn, at) => ({ turn, distance: Math.abs(at - middle) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ turn }) => turn)
}
