import { z } from 'zod'
import type { Call } from '#kernel'
import { byName, isGlob } from '#kit'
import { namePattern } from './hidden.ts'
import { allVendorWords } from './vendors.ts'

const names = z.array(z.string().min(1).max(256)).max(1000)
const line = z
  .string()
  .max(2000)
  .regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII')

export const errorCodes = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'internal_error',
  'provider_error',
  'circuit_open',
] as const

export const brandSchema = z.strictObject({
  tenants: names.optional().meta({ title: 'Tenants', description: 'Ids of tenants whose calls it is for.' }),
  projects: names.optional().meta({
    title: 'Projects',
    description:
      'Values of X-Project that it is for. A brand with neither tenants nor projects is for all other calls.',
  }),
  name: z.string().min(1).max(64).meta({
    title: 'Name',
    description: 'What stands in texts in place of the names of providers and models.',
  }),
  model_names: z.record(z.string().min(1).max(256), z.string().min(1).max(256)).default({}).meta({
    title: 'Model names',
    description:
      'The name that clients see, by the name of the provider for the model, or a glob. Without one they see the name that they asked for, or the name of the brand if that names the model.',
  }),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,100}$/, 'must be the name of a header'), line)
    .default({})
    .meta({ title: 'Headers', description: 'Headers of answers and errors.' }),
  error_texts: z.partialRecord(z.enum(errorCodes), z.string().min(1).max(2000)).default({}).meta({
    title: 'Error texts',
    description: 'Messages of errors, by their code.',
  }),
  words: z.array(z.string().min(2).max(128)).max(200).default([]).meta({
    title: 'Words',
    description: 'Further names to hide, such as those of models that are reached by fallback only.',
  }),
  texts: z.boolean().default(true).meta({
    title: 'Texts',
    description: 'Whether names are also replaced in what the model says.',
  }),
})

/** A brand, ready to be asked. */
export interface Brand extends z.infer<typeof brandSchema> {
  readonly id: string
  readonly modelName: (model: string) => string | undefined
  /** Finds what names a provider or a model, whatever the call. */
  readonly hidden: RegExp
}

/** The brand of a call; without a call, that of all other calls. A brand for its tenant comes before one for its project. */
export function compileBrands(
  brands: Readonly<Record<string, z.infer<typeof brandSchema>>>,
): (call: Call | undefined) => Brand | undefined {
  const all = Object.entries(brands).map(
    ([id, brand]): Brand => ({ ...brand, id, modelName: byName(brand.model_names), hidden: hiddenBy(brand) }),
  )
  const tenants = indexed(all, ({ tenants }) => tenants)
  const projects = indexed(all, ({ projects }) => projects)
  const rest = all.find((brand) => !brand.tenants && !brand.projects)
  return (call) => {
    if (!call) return rest
    const { tenant } = call.principal
    return (
      (tenant === undefined ? undefined : tenants.get(tenant)) ?? projects.get(call.context.project) ?? rest
    )
  }
}

const hiddenBy = ({ model_names, words }: z.infer<typeof brandSchema>): RegExp =>
  namePattern([...allVendorWords, ...Object.keys(model_names).filter((name) => !isGlob(name)), ...words])!

function indexed(
  brands: readonly Brand[],
  namesOf: (brand: Brand) => readonly string[] | undefined,
): Map<string, Brand> {
  return new Map(
    brands.toReversed().flatMap((brand) => (namesOf(brand) ?? []).map((name) => [name, brand] as const)),
  )
}
