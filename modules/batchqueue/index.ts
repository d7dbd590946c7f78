import { badRequest, type Call, defineModule, rateLimited } from '#kernel'
import { compileGlobs } from '#kit'
import { BatchQueue } from './queue.ts'
import { addRoutes, path } from './routes.ts'
import { settings } from './settings.ts'

const header = 'x-batch'

export default defineModule({
  settings,

  setup(context) {
    const { id, settings } = context
    const { models, tags, max_queue: most } = settings
    const queue = new BatchQueue(context)
    addRoutes(context, queue)
    const ofModel = compileGlobs(models)
    const wanted = Object.entries(tags)

    /** Calls of the gateway's own features are made when their makers say, and these wait for the answers. */
    const isDeferred = ({ request, context: { headers, tags, source } }: Call): boolean => {
      if (source !== 'proxy') return false
      const said = headers[header]
      if (said === 'true') return true
      if (said !== undefined && said !== 'false')
        throw badRequest('X-Batch is true or false.', { param: 'X-Batch' })
      return (
        said === undefined &&
        (ofModel(request.model) ||
          (wanted.length > 0 && wanted.every(([name, value]) => tags[name] === value)))
      )
    }

    return {
      request(call) {
        return isDeferred(call) ? defer(call) : undefined
      },
    }

    async function defer(call: Call): Promise<never> {
      const job = await queue.add(call)
      if (job === undefined)
        throw rateLimited(`${most} calls wait already. Try again later.`, { retryAfterS: 60 })
      call.trace.note(id, 'queued', { job })
      call.trace.facts.batch = { id: job }
      call.trace.header('X-Batch-Id', job)
      throw queued(job)
    }
  },
})

/**
 * The answer to the client: at 202, since nothing is wrong with the call, and in the form of errors, as no model has answered. The id is
 * in a header, too, as errors of some wires have no details.
 */
const queued = (id: string) =>
  rateLimited(`This call is made later. Its answer will be at ${path}/${id}.`, {
    status: 202,
    type: 'batch_queued',
    details: { id, status: 'queued', url: `${path}/${id}` },
  })
