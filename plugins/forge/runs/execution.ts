import { ensure } from '#kit'
import { problemOf, StepFault } from '../steps/fault.ts'
import type { Tools } from '../tools/tools.ts'
import { holds } from '../workflows/condition.ts'
import type { Whole } from '../workflows/definition.ts'
import { needsOf } from '../workflows/references.ts'
import type { Part, Step } from '../workflows/step.ts'
import { filled, type Scope, type Value, valued } from '../workflows/value.ts'
import { type Ended, isFatal, scopeOf, skipped, together, waiting } from './ended.ts'
import type { Journal } from './journal.ts'
import { type Leaves, refused } from './leaves.ts'
import { partsOf } from './parts.ts'
import type { People } from './people.ts'
import type { RunRow } from './rows.ts'

/** A step, or a part of one. */
type Made = Step | Part
type Composite = Extract<Made, { type: 'map' | 'parallel' | 'workflow' }>

/** Where a step is made. */
interface Place {
  readonly path: string
  readonly scope: Scope
  readonly whole: Whole
  readonly signal: AbortSignal
}

/** A workflow that is being made, as its steps see it. */
interface Around extends Pick<Place, 'whole' | 'signal'> {
  readonly input: Value
  readonly prefix: string
  readonly endOf: (id: string) => Promise<Ended>
}

interface Means {
  readonly journal: Journal
  readonly leaves: Leaves
  readonly people: People
  readonly toolbox: Pick<Tools, 'isAsked'>
  readonly run: RunRow
  readonly maxItems: number
  /** Bytes of JSON of one value. */
  readonly mostBytes: number
}

/**
 * Makes the steps of a run, each as soon as those before it have ended. What has ended is in the journal, so a run that was cut off
 * begins anew and goes on where it was.
 */
export class Execution {
  readonly #means: Means

  constructor(means: Means) {
    this.#means = means
  }

  /** Makes the steps of a workflow; their paths begin with `prefix`. */
  async workflow(whole: Whole, input: Value, prefix: string, signal: AbortSignal): Promise<Ended> {
    const ends = new Map<string, Promise<Ended>>()
    const steps = new Map(whole.steps.map((step) => [step.id, step]))
    const failed = await together(signal, (signal) => {
      const endOf = (id: string): Promise<Ended> =>
        ensure(ends, id, () => this.#step(steps.get(id)!, { whole, input, prefix, signal, endOf }))
      return whole.steps.map(({ id }) => endOf(id))
    })
    if (failed) return failed
    const ended = new Map<string, Ended>()
    for (const { id } of whole.steps) ended.set(id, await ends.get(id)!)
    return [...ended.values()].includes(waiting) ? waiting : outputOf(whole, input, ended, prefix)
  }

  async #step(step: Step, { whole, input, prefix, signal, endOf }: Around): Promise<Ended> {
    const before = new Map<string, Ended>()
    for (const id of await needsOf(step)) before.set(id, await endOf(id))
    const ends = [...before.values()]
    // The others are about to be stopped where one of these has failed for all.
    if (ends.some((end) => end === waiting || (end.status === 'failed' && end.isFatal))) return waiting
    const path = prefix + step.id
    const { journal, mostBytes } = this.#means
    const known = await journal.endOf(path, isFatal(step))
    if (known) return known
    if (ends.length > 0 && ends.every((end) => end === skipped)) return journal.skip(path, step.type)
    const scope = scopeOf(input, before)
    try {
      if (step.when !== undefined && !holds(step.when, scope, mostBytes))
        return await journal.skip(path, step.type)
    } catch (error) {
      return refused(journal, step, path, error)
    }
    return this.#make(step, { path, scope, whole, signal })
  }

  async #make(made: Made, place: Place): Promise<Ended> {
    switch (made.type) {
      case 'map':
      case 'parallel':
      case 'workflow':
        return this.#composite(made, place)
      case 'human':
        return this.#human(made, place)
      case 'tool':
        return this.#tool(made, place)
      default:
        return this.#means.leaves.make(made, place)
    }
  }

  #human(step: Extract<Made, { type: 'human' }>, { path, scope }: Place): Promise<Ended> {
    const { message } = step.config
    const question = (): string | undefined => (message === undefined ? undefined : filled(message, scope))
    return this.#means.people.ask(this.#means.journal, step, path, question)
  }

  /** The use of a tool, which a person decides first where the tool says so. */
  async #tool(step: Extract<Made, { type: 'tool' }>, place: Place): Promise<Ended> {
    const { journal, people, leaves } = this.#means
    const { tool, arguments: args } = step.config
    const path = `${place.path}.approval`
    let isAsked: boolean
    try {
      isAsked = await this.#isAsked(step, place, journal.row(path) !== undefined)
    } catch (error) {
      return refused(journal, step, place.path, error)
    }
    if (isAsked) {
      // The arguments as they will be sent: a value in the midst of their JSON could pretend to be others.
      const question = (): string => `Use the tool ${tool} with ${JSON.stringify(valued(args, place.scope))}?`
      const decided =
        (await journal.endOf(path, true)) ??
        (await people.ask(journal, { type: 'human', config: {} }, path, question))
      if (decided.status === 'failed')
        return journal.fail(await journal.begin(place.path, step.type, 1), decided.problem, isFatal(step))
      if (decided.status !== 'completed') return decided
    }
    return leaves.make(step, place)
  }

  #isAsked({ config }: Extract<Made, { type: 'tool' }>, place: Place, wasAsked: boolean): Promise<boolean> {
    const { toolbox, run, mostBytes } = this.#means
    const use = () => ({ args: valued(config.arguments, place.scope, mostBytes), run })
    return toolbox.isAsked(place.whole.tools[config.tool]!, use, wasAsked, run.principal)
  }

  /** A step that others are a part of. Only these are kept, and after a restart it is put together from them. */
  async #composite(step: Composite, place: Place): Promise<Ended> {
    const { journal } = this.#means
    const { path } = place
    const before = journal.row(path)
    const row = before?.status === 'completed' ? before : await journal.begin(path, step.type, 1)
    try {
      const ended = await this.#inside(step, place)
      if (ended.status === 'failed') return await journal.fail(row, ended.problem, isFatal(step))
      if (ended.status === 'completed' && row !== before) await journal.close(row)
      return ended
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      return journal.fail(row, problemOf(error), isFatal(step))
    }
  }

  #inside(step: Composite, place: Place): Promise<Ended> {
    const { path, scope, whole, signal } = place
    if (step.type === 'workflow') {
      const { definition } = whole.nested[step.config.workflow]!
      return this.workflow(definition, valued(step.config.input, scope), `${path}/`, signal)
    }
    return this.#parts(place, partsOf(step, path, scope, this.#means.maxItems))
  }

  async #parts({ whole, signal }: Place, { parts, outputFrom }: ReturnType<typeof partsOf>): Promise<Ended> {
    const ends: Ended[] = []
    const failed = await together(signal, (signal) =>
      parts.map(async ({ part, path, scope }, n) => {
        const known = await this.#means.journal.endOf(path, isFatal(part))
        const end = known ?? (await this.#make(part, { path, scope, whole, signal }))
        ends[n] = end
        return end
      }),
    )
    if (failed) return failed
    if (ends.includes(waiting)) return waiting
    const outputs = ends.map((end) => (end.status === 'completed' ? end.output : null))
    return { status: 'completed', output: outputFrom(outputs) }
  }
}

/** What a workflow puts out whose steps have all ended. */
function outputOf(whole: Whole, input: Value, ended: ReadonlyMap<string, Ended>, prefix: string): Ended {
  const last = ended.get(whole.steps.at(-1)!.id)
  try {
    const template = whole.output
    if (template !== undefined)
      return { status: 'completed', output: valued(template, scopeOf(input, ended)) }
    return { status: 'completed', output: last?.status === 'completed' ? last.output : null }
  } catch (error) {
    return { status: 'failed', problem: problemOf(error), path: `${prefix}output`, isFatal: true }
  }
}
