import { badRequest } from '#kernel'
import { type MustacheNode, takingTurns } from '#kit'
import type { Definition } from './definition.ts'
import { reserved, type Step } from './step.ts'
import { textsIn } from './value.ts'

/** What a tag of a step can ask about another one. */
const facts = ['output', 'status', 'error']

/** The step that a path names: `steps.draft.output`, or `draft.output` for short. */
const stepOf = ([first, second]: readonly string[]): string | undefined => {
  if (first === 'steps') return second
  return first !== undefined && !reserved.includes(first) ? first : undefined
}

interface Place {
  readonly at: string
  /** Names beside those of steps. */
  readonly names: readonly string[]
}

type Seen = (path: readonly string[], place: Place) => void

/** Hands over every path that a tag names where the names of steps count: not inside of sections, where others may be meant. */
function eachPath(nodes: readonly MustacheNode[], place: Place, seen: Seen): void {
  for (const node of nodes) {
    if (node.kind === 'partial')
      throw badRequest(`body ${place.at}: there are no partials here.`, { param: place.at })
    if (node.kind === 'text') continue
    seen(node.path, place)
    if (node.kind === 'section') eachPath(sectionsOnly(node.nodes), place, seen)
  }
}

/** Inside of a section a first name that is a step's may be a field of what the section is over, so only `steps` counts. */
const sectionsOnly = (nodes: readonly MustacheNode[]): readonly MustacheNode[] =>
  nodes.filter((node) => !('path' in node) || node.path[0] === 'steps' || node.kind === 'section')

/** All that a step says in Mustache, with the path of it, and the names beside those of steps that its tags know. */
function said(step: Step, at: string): (readonly [what: unknown, at: string, names?: readonly string[]])[] {
  const when = [step.when, `${at}.when`] as const
  if (step.type === 'llm') return [when, [step.prompt, `${at}.prompt`], [step.system, `${at}.system`]]
  if (step.type !== 'map') return [when, [step.config, `${at}.config`]]
  const { over, step: part } = step.config
  return [when, [over, `${at}.config.over`], [part, `${at}.config.step`, ['item', 'index']]]
}

/** Hands over every path that the tags of a step name. Others have their turn meanwhile. */
async function eachTag(step: Step, at: string, seen: Seen): Promise<void> {
  const turn = takingTurns()
  for (const [what, where, names = []] of said(step, at))
    for (const { nodes, at } of textsIn(what, where)) {
      eachPath(nodes, { at, names }, seen)
      await turn()
    }
}

/**
 * The steps that end before a step begins: those that it depends on, and those that its tags name. `seen` is handed all paths of tags
 * on the way, below `at`.
 */
export async function needsOf(step: Step, at = '', seen: Seen = () => {}): Promise<ReadonlySet<string>> {
  const needs = new Set(step.depends_on)
  await eachTag(step, at, (path, place) => {
    seen(path, place)
    const id = stepOf(path)
    if (id !== undefined) needs.add(id)
  })
  return needs
}

/** Rejects tags of names that are not there, dependencies on them, and circles; each with the path of the field. */
export async function checkReferences({ steps, output }: Definition): Promise<void> {
  const ids = new Set(steps.map(({ id }) => id))
  const check: Seen = (path, { at, names }) => {
    const [first] = path
    if (first === 'input' || (first !== undefined && names.includes(first))) return
    const id = stepOf(path)
    const tag = path.join('.') || '.'
    if (id === undefined || !ids.has(id)) throw wrong(at, `{{${tag}}} names no step, and is no input`)
    const fact = path[first === 'steps' ? 2 : 1]
    if (fact !== undefined && !facts.includes(fact))
      throw wrong(at, `{{${tag}}}: a step has ${facts.join(', ')}, not ${fact}`)
  }
  const needs = new Map<string, ReadonlySet<string>>()
  for (const [n, step] of steps.entries()) {
    const at = `steps.${n}`
    if (steps.findIndex(({ id }) => id === step.id) < n) throw wrong(`${at}.id`, `${step.id} is there twice`)
    for (const [m, id] of step.depends_on.entries())
      if (!ids.has(id)) throw wrong(`${at}.depends_on.${m}`, `there is no step ${id}`)
    needs.set(step.id, await needsOf(step, at, check))
  }
  const turn = takingTurns()
  for (const { nodes, at } of textsIn(output, 'output')) {
    eachPath(nodes, { at, names: [] }, check)
    await turn()
  }
  checkCircles(steps, needs)
}

function checkCircles(steps: readonly Step[], needs: ReadonlyMap<string, ReadonlySet<string>>): void {
  const done = new Set<string>()
  const visit = (id: string, way: readonly string[]): void => {
    if (done.has(id)) return
    if (way.includes(id)) {
      const circle = [...way.slice(way.indexOf(id)), id]
      const n = steps.findIndex((step) => step.id === id)
      throw wrong(`steps.${n}.depends_on`, `the steps wait for each other: ${circle.join(' → ')}`)
    }
    for (const next of needs.get(id)!) visit(next, [...way, id])
    done.add(id)
  }
  for (const { id } of steps) visit(id, [])
}

export const wrong = (at: string, what: string) => badRequest(`body ${at}: ${what}.`, { param: at })
