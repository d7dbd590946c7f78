import { z } from 'zod'
import { type Call, defineModule, forbidden, type GatewayError, isGatewayError } from '#kernel'
import { compileGlobs } from '#kit'
import { type Bound, compileBounds, compileRegions, header } from './bounds.ts'

const name = z.string().min(1).max(64)
const bound = z.array(name).min(1).max(10)
const boundsBy = z.record(z.string().min(1).max(256), bound).default({})

export default defineModule({
  settings: z.strictObject({
    regions: z.record(name, z.array(name).min(1).max(100)).default({}).meta({
      title: 'Regions',
      description:
        'What belongs to a region besides its own name, as names or globs: {"eu": ["eu-west-1", "europe-west1"]}. The region of a provider is the field region of its entry, or its option region or location; a key of Bedrock may name another.',
    }),
    default: z.array(name).max(10).default([]).meta({
      title: 'Default',
      description:
        'Regions of calls whose tenant, user, key and project have none, and of calls that a plugin makes for itself. If empty, such calls may go anywhere.',
    }),
    tenants: boundsBy.meta({
      title: 'Tenants',
      description: 'Allowed regions by tenant id. In all of these lists, * allows every place.',
    }),
    users: boundsBy.meta({ title: 'Users', description: 'Allowed regions by user id.' }),
    keys: boundsBy.meta({ title: 'Keys', description: 'Allowed regions by key id.' }),
    projects: boundsBy.meta({
      title: 'Projects',
      description:
        'Allowed regions by project. Clients choose their project, so bind users or keys where clients are not trusted. If several lists have an entry for a call, all of them hold.',
    }),
    spanning: z.array(z.string().min(1).max(256)).max(100).default(['global.*', '*/global.*']).meta({
      title: 'Spanning models',
      description:
        'Globs of models that a provider may run outside of its own region, such as the global profiles of Bedrock. No call that is bound to a region gets them.',
    }),
  }),

  setup({ id, settings, slot, report }) {
    const compiled = compileBounds(settings)
    const isIn = compileRegions(settings.regions)
    const isSpanning = compileGlobs(settings.spanning)
    const known = slot<{ bounds?: readonly Bound[] }>(() => ({}))
    const boundsOf = (call: Call): readonly Bound[] => (known(call).bounds ??= compiled(call.origin ?? call))

    return {
      pure: true,
      request(call) {
        const bounds = boundsOf(call)
        if (bounds.length > 0) call.trace.note(id, 'bound', { regions: bounds.map((one) => one.join(',')) })
        return undefined
      },
      varies(call) {
        const bounds = boundsOf(call)
        return bounds.length === 0 ? undefined : JSON.stringify(bounds)
      },
      eligible({ region, model }, call) {
        const bounds = boundsOf(call)
        if (bounds.length === 0) return undefined
        if (region === undefined) return 'its region is not known'
        if (isSpanning(model)) return 'it may run in any region'
        const broken = bounds.find((one) => !isIn(one, region))
        return broken && `it is in ${region}, not in ${broken.join(' or ')}`
      },
      wraps: (call) => boundsOf(call).length > 0,
      async around(call, next) {
        try {
          return await next(call)
        } catch (error) {
          if (!isGatewayError(error) || !isKeptBy(id, error)) throw error
          report('refused', error.message)
          throw forbidden(
            `${error.message} Ask an admin for a provider in the region, or for another ${header}.`,
            {
              type: error.type,
              param: error.param,
              details: error.details,
            },
          )
        }
      },
    }
  },
})

/** Whether a call found no place to go to, and this module kept it from one of them. */
function isKeptBy(id: string, { type, details }: GatewayError): boolean {
  const targets =
    type === 'no_target' ? (details?.targets as readonly { module: string }[] | undefined) : undefined
  return targets?.some(({ module }) => module === id) ?? false
}
