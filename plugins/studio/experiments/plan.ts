import { badRequest, type Context, type Principal } from '#kernel'
import type { Schemas } from '#kit'
import { checkPlan } from '../runs/check.ts'
import type { Arm, Case, Plan } from '../runs/plan.ts'
import { pinTemplate, promptsOf } from '../runs/templates.ts'
import type { Settings } from '../settings.ts'
import type { Studio } from '../studio.ts'
import type { Definition } from './input.ts'
import { pastInputs } from './past-inputs.ts'

const places = {
  cases: 'dataset.test_inputs',
  assertions: () => 'evaluators',
}

/** What plans are made with. */
export interface Means {
  readonly context: Pick<Context<Settings>, 'find' | 'settings'>
  readonly studio: Studio
  readonly schemas: Schemas
}

/**
 * What a run of an experiment asks, as templates and past calls are now. Throws a bad request that names the field for what cannot be
 * carried out.
 */
export async function planOf(
  { context, studio, schemas }: Means,
  experiment: Definition,
  caller: Principal,
  signal: AbortSignal,
): Promise<Plan> {
  const { type, dataset, evaluators, runs_per_input, seed, stop_rule } = experiment
  const arms: Arm[] = []
  for (const at of experiment.variants.keys()) arms.push(await armOf(studio, experiment, at, caller))
  const plan: Plan = {
    arms,
    cases: dataset.traces
      ? await pastInputs(context, dataset.traces, caller, signal)
      : (dataset.test_inputs ?? []).map(caseOf),
    assertions: evaluators,
    repetitions: runs_per_input,
    design: type === 'offline' ? 'all' : 'split',
    seed,
    stop: stop_rule,
  }
  const { max_calls: maxCalls } = context.settings
  await checkPlan(plan, await promptsOf(studio, plan), places, { schemas, maxCalls })
  return plan
}

async function armOf(
  studio: Studio,
  { variants, template_slug: slug }: Definition,
  at: number,
  caller: Principal,
): Promise<Arm> {
  const {
    id = `v${at + 1}`,
    model,
    template_version: version,
    template_label: label,
    ...rest
  } = variants[at]!
  const pinned =
    slug === undefined
      ? undefined
      : await pinTemplate(studio, slug, { version, label }, caller, {
          slug: 'template_slug',
          version: `variants.${at}.template_`,
        })
  const asked = model ?? pinned?.model
  if (asked === undefined) throw noModel(at)
  return { ...rest, id, model: asked, ...(pinned && { template: pinned.template }) }
}

type Input = NonNullable<Definition['dataset']['test_inputs']>[number]

const caseOf = (input: Input, at: number): Case =>
  typeof input === 'string'
    ? { name: `${at + 1}`, prompt: input, weight: 1 }
    : { ...input, name: input.name ?? `${at + 1}`, weight: 1 }

const noModel = (at: number) =>
  badRequest(`body variants.${at}.model: is missing, and the template has none.`, {
    param: `variants.${at}.model`,
  })
