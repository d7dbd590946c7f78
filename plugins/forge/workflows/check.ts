import { forbidden, tooLarge } from '#kernel'
import type { Schemas } from '#kit'
import { checkSchema } from '../schemas.ts'
import type { Settings } from '../settings.ts'
import type { Definition, Nested, Whole } from './definition.ts'
import { checkPatterns } from './patterns.ts'
import { checkReferences, wrong } from './references.ts'
import type { Part, Step } from './step.ts'

/** Workflows inside each other. */
const deepest = 5
/** Characters of a definition as JSON, with the workflows inside. */
const longest = 500_000

/** What reads the schemas of a definition, and what the names in it stand for. Both of these throw a bad request for the field `at` where there is nothing of the name. */
export interface Means {
  readonly schemas: Schemas
  /** Reads another workflow, as it is now. */
  readonly find: (slug: string, at: string) => Promise<Nested>
  /** The id of a tool. */
  readonly toolOf: (slug: string, at: string) => string
}

/** A definition that may be saved for the workflow of this id. */
export async function checkedDefinition(
  definition: Definition,
  owner: { readonly id: string; readonly slug: string; readonly user_id?: string | undefined },
  settings: Settings,
  { schemas, find, toolOf }: Means,
): Promise<Whole> {
  const { id, slug } = owner
  checkLength(definition)
  checkLimits(definition, settings)
  checkRequests(definition, owner, settings)
  await checkReferences(definition)
  await checkPatterns(definition)
  if (definition.input_schema) await checkSchema(schemas, definition.input_schema, 'input_schema')
  const nested: Record<string, Nested> = {}
  const tools: Record<string, string> = {}
  for (const [n, step] of definition.steps.entries()) {
    await checkStep(step, `steps.${n}`, schemas)
    for (const { slug: tool, at } of namesIn(step, `steps.${n}`, 'tool')) tools[tool] ??= toolOf(tool, at)
    for (const { slug: other, at } of namesIn(step, `steps.${n}`, 'workflow')) {
      if (other === slug) throw recursion(at, other)
      nested[other] ??= await find(other, at)
      if (contains(nested[other], id)) throw recursion(at, other)
      if (depthOf(nested[other].definition) >= deepest)
        throw wrong(at, `more than ${deepest} workflows are inside each other`)
    }
  }
  const whole = { ...definition, nested, tools }
  checkLength(whole)
  return whole
}

function checkLength(definition: Definition): void {
  if (JSON.stringify(definition).length > longest)
    throw tooLarge(`A workflow may have ${longest} characters, with the workflows that it runs.`, {
      param: 'steps',
    })
}

function checkLimits({ steps, limits }: Definition, { max_steps, timeout_s, max_parallel }: Settings): void {
  if (steps.length > max_steps) throw wrong('steps', `a workflow has ${max_steps} steps at the most`)
  for (const [field, most] of Object.entries({ timeout_s, max_parallel })) {
    const asked = limits[field as 'timeout_s' | 'max_parallel']
    if (asked !== undefined && asked > most) throw wrong(`limits.${field}`, `may be ${most} at the most`)
  }
}

/** Throws a forbidden for a workflow of a user that sends requests, where only those of admins may. */
export function checkRequests(
  { steps }: Pick<Definition, 'steps'>,
  { user_id }: { readonly user_id?: string | undefined },
  settings: Settings,
): void {
  if (mayRequest(user_id, settings)) return
  for (const [n, step] of steps.entries())
    for (const [where, part] of partsOf(step, `steps.${n}`))
      if (part.type === 'http') throw onlyAdmins(`${where}.type`)
}

/** Whether things of this user, of admins without one, may send requests. */
export const mayRequest = (user: string | undefined, { requests_by }: Settings): boolean =>
  user === undefined || requests_by === 'everybody'

export const onlyAdmins = (param: string) =>
  forbidden(
    'Only what admins make may send HTTP requests; an admin can allow it to everybody (`requests_by` of `forge`).',
    { param },
  )

async function checkStep(step: Step, at: string, schemas: Schemas): Promise<void> {
  for (const [where, part] of partsOf(step, at)) {
    if (part.on_error?.action === 'fallback' && part.type !== 'llm' && part.type !== 'judge')
      throw wrong(`${where}.on_error.action`, `a step of the type ${part.type} asks no model`)
    if ('output_schema' in part && part.output_schema)
      await checkSchema(schemas, part.output_schema, `${where}.output_schema`)
  }
}

/** A step and those inside of it, with their paths. */
function partsOf(step: Step, at: string): [path: string, part: Step | Part][] {
  if (step.type === 'map')
    return [
      [at, step],
      [`${at}.config.step`, step.config.step],
    ]
  if (step.type !== 'parallel') return [[at, step]]
  const inside = Object.entries(step.config.steps)
  return [[at, step], ...inside.map(([name, part]): [string, Part] => [`${at}.config.steps.${name}`, part])]
}

/** The workflows or tools that a step names, itself or in its parts, with the paths of the names. */
function namesIn(step: Step, at: string, type: 'workflow' | 'tool'): { slug: string; at: string }[] {
  return partsOf(step, at).flatMap(([where, part]) => {
    if (part.type !== type) return []
    const slug = part.type === 'tool' ? part.config.tool : part.config.workflow
    return [{ slug, at: `${where}.config.${type}` }]
  })
}

const contains = (nested: Nested, id: string): boolean =>
  nested.id === id || Object.values(nested.definition.nested).some((inner) => contains(inner, id))

const depthOf = ({ nested }: Whole): number =>
  Math.max(0, ...Object.values(nested).map(({ definition }) => 1 + depthOf(definition)))

const recursion = (at: string, slug: string) => wrong(at, `${slug} leads back to this workflow`)
