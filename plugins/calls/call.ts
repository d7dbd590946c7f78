import {
  badRequest,
  Call,
  type CallOptions,
  type CompleteOptions,
  callSources,
  type ModelRequest,
  newId,
  type Operation,
  type Principal,
} from '#kernel'

/** The wires that a client would call by. */
const wires: Readonly<Record<Operation, string>> = {
  chat: 'chat',
  completion: 'completions',
  embedding: 'embeddings',
}

/** A call in the name of a principal, like one that it sent. */
export function callAs(
  principal: Principal,
  id: string,
  request: ModelRequest,
  options: CallOptions,
  generation: number,
): Call {
  const { source = 'plugin', project = 'default', tags = {}, session, ip = '', credential } = options
  const { headers = {}, parent, sourceUser } = options
  if (!callSources.includes(source)) throw badRequest(`There is no source ${source}.`, { param: 'source' })
  const operation = operationOf(request)
  const context = {
    project,
    tags,
    sessionId: session,
    ip,
    provider: credential?.provider,
    headers,
    source,
    generation,
  }
  const call = new Call({ id, operation, wire: wires[operation], principal, request, context })
  if (parent !== undefined) call.trace.facts.parent_id = parent
  if (sourceUser !== undefined) call.trace.facts.source_user_id = sourceUser
  return call
}

/** A call that a plugin makes for itself. */
export function callFor(
  plugin: string,
  request: ModelRequest,
  { on: parent, after: on = parent, as }: CompleteOptions,
  generation: number,
): Call {
  const tenant = on?.principal.tenant
  const own: Principal = { type: 'admin', keyId: `plugin:${plugin}`, userId: undefined, plan: 'free', tenant }
  const call = new Call({
    id: newId('tr_'),
    operation: operationOf(request),
    wire: '',
    principal: (as === 'caller' ? on?.principal : undefined) ?? own,
    request,
    context: {
      project: on?.context.project ?? 'default',
      tags: on?.context.tags ?? {},
      sessionId: undefined,
      ip: '',
      provider: undefined,
      headers: {},
      source: `plugin:${plugin}`,
      generation,
    },
    origin: on && (on.origin ?? { principal: on.principal, context: on.context }),
  })
  if (on) call.trace.facts.parent_id = on.id
  const sourceUser = on?.trace.facts.source_user_id ?? on?.principal.userId
  if (sourceUser !== undefined) call.trace.facts.source_user_id = sourceUser
  return call
}

function operationOf({ input, prompt }: Omit<ModelRequest, 'stream'>): Operation {
  if (input !== undefined) return 'embedding'
  return prompt === undefined ? 'chat' : 'completion'
}
