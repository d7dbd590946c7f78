import { badRequest } from '#kernel'
import { parseMustache } from '#kit'
import { fromShortForm } from '../runs/short-form.ts'
import { type Definition, definition, type ExperimentInput } from './input.ts'

const missing = (param: string) => badRequest(`body ${param}: is missing.`, { param })

/** What an experiment says, from either form. Throws a bad request that names the field. */
export function definitionOf(input: ExperimentInput): Definition {
  const { prompt, models, runs, eval: type, eval_arg: argument, ...rest } = input
  const short = { prompt, models, runs, eval: type, eval_arg: argument }
  if (models === undefined) {
    const [odd] = Object.entries(short).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (odd !== undefined)
      throw badRequest(`body ${odd}: belongs to the short form, which has \`models\`.`, { param: odd })
    for (const name of ['variants', 'dataset', 'evaluators'] as const)
      if (rest[name] === undefined) throw missing(name)
    return checked(rest)
  }
  for (const name of ['variants', 'dataset', 'evaluators', 'runs_per_input', 'template_slug'] as const)
    if (rest[name] !== undefined)
      throw badRequest(`body ${name}: the short form with \`models\` does not take it.`, { param: name })
  if (prompt === undefined) throw missing('prompt')
  if (type === undefined) throw missing('eval')
  return checked({
    ...rest,
    variants: models.map((model, n) => ({ id: `v${n + 1}`, model, weight: 1 })),
    dataset: { test_inputs: [prompt] },
    evaluators: [fromShortForm(type, argument, 'eval')],
    ...(runs !== undefined && { runs_per_input: runs }),
  })
}

/** The same after a change. */
export function checked(fields: unknown): Definition {
  const whole = definition.parse(fields)
  const { test_inputs, traces } = whole.dataset
  if ((test_inputs === undefined) === (traces === undefined))
    throw badRequest('body dataset: needs either `test_inputs` or `traces`.', { param: 'dataset' })
  const ids = whole.variants.map(({ id }, n) => id ?? `v${n + 1}`)
  const twice = ids.findIndex((id, n) => ids.indexOf(id) !== n)
  if (twice !== -1)
    throw badRequest(`body variants.${twice}.id: another variant has this id.`, {
      param: `variants.${twice}.id`,
    })
  for (const [n, one] of whole.variants.entries()) checkVariant(one, n, whole.template_slug)
  return whole
}

function checkVariant(
  { model, prompt, template_version, template_label }: Definition['variants'][number],
  n: number,
  slug: string | undefined,
): void {
  const refuse = (field: string, what: string) =>
    badRequest(`body variants.${n}.${field}: ${what}.`, { param: `variants.${n}.${field}` })
  if (prompt !== undefined) parseMustache(prompt, `variants.${n}.prompt`)
  if (slug === undefined && model === undefined) throw refuse('model', 'is missing')
  if (slug === undefined && template_version !== undefined)
    throw refuse('template_version', 'there is no template_slug')
  if (slug === undefined && template_label !== undefined)
    throw refuse('template_label', 'there is no template_slug')
}
