import { badRequest, type Context, type ModelRequest, type Principal, TraceReader } from '#kernel'
import { addingTo, answerTexts, pastCallOf, sourceUserOf } from '#kit'
import type { Arm } from '../runs/plan.ts'
import { requestOf } from '../runs/request.ts'
import { pinTemplate, promptsOf } from '../runs/templates.ts'
import type { Studio } from '../studio.ts'
import type { SnapshotInput } from './input.ts'

/** What a snapshot asks, and what was answered where that is known. */
export interface Question {
  readonly request: ModelRequest
  readonly template?: { readonly slug: string; readonly version: number }
  readonly answer?: string
  /** Whose call it was. */
  readonly user?: string | undefined
  /** Modules that had added to the request of that call. */
  readonly added?: readonly string[]
}

/** Fields that say what is asked. */
const own = [
  'template_slug',
  'template_version',
  'template_label',
  'variables',
  'provider',
  'system',
  'prompt',
  'messages',
  'input',
  'params',
] as const

/** The question that a snapshot is to pin. Throws a bad request that names the field, and 404 or 422 for a past call. */
export async function questionOf(
  { find }: Pick<Context<unknown>, 'find'>,
  studio: Studio,
  input: SnapshotInput,
  caller: Principal,
): Promise<Question> {
  if (input.trace_id === undefined) return asked(studio, input, caller)
  const other = own.find((field) => input[field] !== undefined)
  if (other !== undefined)
    throw badRequest(`body ${other}: the question is that of the trace.`, { param: other })
  const reader = find(TraceReader)
  if (!reader) throw badRequest('body trace_id: no traces are kept.', { param: 'trace_id' })
  const { trace, request, response } = await pastCallOf(reader, input.trace_id, caller, 'trace_id')
  const { stream: _, stream_options: __, ...rest } = request
  return {
    request: { ...rest, model: input.model ?? request.model },
    answer: answerTexts(response).join('\n'),
    user: sourceUserOf(trace),
    added: addingTo(trace),
  }
}

async function asked(studio: Studio, input: SnapshotInput, caller: Principal): Promise<Question> {
  const { template_slug: slug, template_version: version, template_label: label } = input
  if (slug === undefined && (version !== undefined || label !== undefined)) {
    const param = version === undefined ? 'template_label' : 'template_version'
    throw badRequest(`body ${param}: there is no template_slug.`, { param })
  }
  const { input: said } = input
  const { prompt = typeof said === 'string' ? said : undefined } = input
  const { messages = Array.isArray(said) ? said : undefined } = input
  const given = [input.prompt, input.messages, said].filter((one) => one !== undefined)
  if (given.length > 1) {
    const param = said === undefined ? 'messages' : 'input'
    throw badRequest(`body ${param}: send one of \`prompt\`, \`messages\` and \`input\`.`, { param })
  }
  const at = { slug: 'template_slug', version: 'template_' }
  const pinned =
    slug === undefined ? undefined : await pinTemplate(studio, slug, { version, label }, caller, at)
  const model = input.model ?? pinned?.model
  if (model === undefined) throw badRequest('body model: is missing.', { param: 'model' })
  const { provider, params, name, variables, system } = input
  const arm: Arm = { id: name, model, provider, params, weight: 1, template: pinned?.template }
  const one = { name, variables, system, prompt, messages, weight: 1 }
  return {
    request: requestOf(arm, one, await promptsOf(studio, { arms: [arm] }), ''),
    ...(pinned && { template: { slug: pinned.template.slug, version: pinned.template.version } }),
  }
}
