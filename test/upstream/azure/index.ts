import { openai } from '../openai/index.ts'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Wire } from '../wire.ts'

const deployed = /^\/openai\/deployments\/([^/]+)(\/(?:chat\/completions|completions|embeddings))$/
const own = /^\/openai\/v1(\/.+)$/

/** The dialect of Azure OpenAI: that of OpenAI, at addresses of deployments, with another header for the key. */
export const azure: Wire = {
  name: 'azure',
  basePath: '',

  serves: ({ path }) => deployed.test(path) || own.test(path) || path === '/openai/models',

  refuse(request, rules) {
    const version = request.query.get('api-version')
    if (own.test(request.path) ? version !== null : !/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(version ?? '')) {
      return failure(404, '404', 'Resource not found')
    }
    const { 'api-key': apiKey, authorization } = request.headers
    const key = apiKey ?? authorization?.replace(/^Bearer (?=eyJ)/, '')
    const both = apiKey !== undefined && authorization !== undefined
    if (both || (rules.keys.length > 0 && !rules.keys.some((known) => known === key))) {
      const message = 'Access denied due to invalid subscription key or wrong API endpoint.'
      return failure(401, '401', message)
    }
    const deployment = decodeURIComponent(deployed.exec(request.path)?.[1] ?? '')
    if (deployment && rules.models && !rules.models.includes(deployment)) {
      return failure(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.')
    }
    const { models: _, ...others } = rules
    return openai.refuse(asOpenai(request), { ...others, keys: [], models: undefined })
  },

  respond: (request, script, rules) => openai.respond(asOpenai(request), script, rules),

  fail: (_, script, status) =>
    failure(status, script.error?.code ?? String(status), script.error?.message ?? 'It failed.'),
}

/** The request as OpenAI would have got it. */
function asOpenai(request: RecordedRequest): RecordedRequest {
  const { path } = request
  const below = deployed.exec(path)?.[2] ?? own.exec(path)?.[1] ?? '/models'
  return { ...request, path: `/v1${below}` }
}

function failure(status: number, code: string, message: string): Answer {
  const frames = [JSON.stringify({ error: { code, message } })]
  return { status, headers: { 'content-type': 'application/json' }, stream: false, frames }
}
