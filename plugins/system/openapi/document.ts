import type { z } from 'zod'
import type { AnswerForm, EventShape, Generation, LiveRoute, Wire } from '#kernel'
import { takingTurns } from '#kit'
import { failures, ofCalls, ofRoute } from './failures.ts'
import { errorSchema, eventSchema, type Schema, schemaOf } from './schemas.ts'

/** Without an import, which would load Node's own fetch and HTTP/2 with every start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const security: Readonly<Record<string, readonly Schema[]>> = {
  public: [],
  call: [{ bearer: [] }],
  any: [{ bearer: [] }, { session: [] }],
  user: [{ bearer: [] }, { session: [] }],
  admin: [{ bearer: [] }, { adminKey: [] }, { session: [] }],
}

/**
 * The OpenAPI 3.1 document of what is switched on right now. With `only` it has that path alone: the whole is two megabytes, and
 * whoever makes a form of one body needs some kilobytes of it. The whole takes most of a second, in which others have their turn.
 */
export async function openapi(generation: Generation, version: string, only?: string): Promise<Schema> {
  const turn = takingTurns()
  const isGuarded = generation.entries.some(({ hooks }) => hooks.admit !== undefined)
  const paths: Record<string, Record<string, Schema>> = {}
  const add = async (path: string, method: string, operation: () => Schema): Promise<void> => {
    if (only !== undefined && path !== only) return
    await turn()
    paths[path] = { ...paths[path], [method]: operation() }
  }
  for (const wire of generation.wires)
    for (const path of [wire.path, ...(wire.aliases ?? [])])
      await add(plainPath(path), 'post', () => wireOperation(wire, path))
  for (const route of generation.routes)
    await add(plainPath(route.path), route.method, () => routeOperation(route, isGuarded))
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'switchyard_session' },
        adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key' },
      },
    },
  }
}

/** The document has one kind of parameters. */
const plainPath = (path: string): string => path.replaceAll('{+', '{')

function wireOperation(wire: Wire, path: string): Schema {
  const parameters = Array.from(path.matchAll(/\{\+?(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  return {
    summary: wire.summary,
    operationId: operationIdOf('post', path),
    tags: ['proxy'],
    security: security.call,
    ...(parameters.length > 0 && { parameters }),
    requestBody: { required: true, content: json(schemaOf(wire.body, 'input')) },
    responses: {
      200: {
        description: wire.events ? 'The answer; with `stream: true`, server-sent events.' : 'The answer.',
        content: {
          ...json(wire.answer ? schemaOf(wire.answer, 'output') : { type: 'object' }),
          ...(wire.events && eventStream(wire.events)),
        },
      },
      ...failures(ofCalls, wire.errors),
    },
  }
}

function routeOperation(route: LiveRoute, isGuarded: boolean): Schema {
  return {
    summary: route.summary,
    operationId: operationIdOf(route.method, route.path),
    tags: [route.tag ?? route.plugin],
    security: security[route.access],
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(route.body && { requestBody: bodyOf(route.body) }),
    responses: {
      ...answersOf(route),
      ...failures(ofRoute(route, isGuarded), route.wire?.errors),
    },
  }
}

/** A name that generated clients can use for a function: `get_api_proxy_modules_name`. */
const operationIdOf = (method: string, path: string): string =>
  [method, ...(path.match(/[A-Za-z0-9]+/g) ?? [])].join('_')

/** No body is taken for an empty object: where that will do, it may be left out. */
function bodyOf(body: NonNullable<LiveRoute['body']>): Schema {
  if ('read' in body) {
    const { types = ['application/octet-stream'] } = body
    return { required: true, content: Object.fromEntries(types.map((type) => [type, {}])) }
  }
  return { required: !body.safeParse({}).success, content: json(schemaOf(body, 'input')) }
}

function answersOf({ returns, status = 200, events }: LiveRoute): Schema {
  if (typeof returns === 'string' || !('statuses' in returns))
    return { [status]: { description: 'Done.', content: contentOf(returns, events) } }
  return Object.fromEntries(
    Object.entries(returns.statuses).map(([status, form]) => [
      status,
      { description: `${STATUS_CODES[status] ?? 'Done'}.`, content: contentOf(form, events) },
    ]),
  )
}

function contentOf(form: AnswerForm<unknown>, events: readonly EventShape[] | undefined): Schema {
  if (form === 'events') return eventStream(events)
  if (form === 'text') return { 'text/plain': { schema: { type: 'string' } } }
  if ('mediaType' in form)
    return { [form.mediaType]: form.mediaType.startsWith('text/') ? { schema: { type: 'string' } } : {} }
  if ('json' in form) return { ...json(schemaOf(form.json, 'output')), ...eventStream(events) }
  return json(schemaOf(form, 'output'))
}

const eventStream = (events: readonly EventShape[] | undefined): Schema => ({
  'text/event-stream': { schema: eventSchema(events) },
})

function json(schema: Schema): Schema {
  return { 'application/json': { schema } }
}

function parameters(schema: z.ZodType | undefined, where: 'path' | 'query'): Schema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }))
}
