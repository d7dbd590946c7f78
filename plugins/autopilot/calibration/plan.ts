import { badRequest, type Context, type Principal, TraceReader } from '#kernel'
import { nanoOf } from '#kit'
import type { Configured } from '../configuration/configured.ts'
import type { Wish } from './calibrations.ts'
import type { TraceFilter } from './rows.ts'
import { samplesOf } from './samples.ts'

/** What a calibration may do otherwise than the configuration says. */
export interface Asked {
  readonly candidates?: readonly string[] | undefined
  readonly sample_size?: number | undefined
  readonly max_cost_usd?: number | undefined
  readonly trace_filter?: TraceFilter | undefined
}

/** What a calibration is to do. Throws a bad request that names what is missing. */
export async function planOf(
  { use }: Pick<Context<unknown>, 'use'>,
  { current }: Configured,
  asked: Asked,
  { principal, ip }: { readonly principal: Principal; readonly ip: string },
): Promise<Wish> {
  const { reference_model: reference, judge, content, candidate_models } = current
  const { candidates = candidate_models, sample_size: size = current.sample_size } = asked
  const usd = asked.max_cost_usd ?? current.max_cost_usd
  const refuse = (param: string, why: string) => badRequest(`${param}: ${why}`, { param })
  if (reference === null) throw refuse('reference_model', 'Set the model that others are compared with.')
  if (candidates.length === 0) throw refuse('candidates', 'Name the models to compare.')
  const twice = candidates.find((model) => model === reference || model === judge.model)
  if (twice !== undefined) throw refuse('candidates', `${twice} is the reference model or the judge.`)
  if (judge.model === null) throw refuse('judge.model', 'Set the model that compares answers.')
  if (usd === null) throw refuse('max_cost_usd', 'Say how much the calibration may cost.')
  if (content.users.length + content.projects.length === 0)
    throw refuse(
      'content',
      'Name the users or projects whose calls may be sent to the candidates and the judge.',
    )
  const samples = await samplesOf(use(TraceReader), {
    ...{ principal, reference, content, size },
    filter: asked.trace_filter ?? {},
  })
  return {
    ...{ principal, ip, reference, samples },
    candidates: [...new Set(candidates)],
    judge: { model: judge.model, rubric: judge.rubric },
    max_nano: nanoOf(usd),
  }
}
