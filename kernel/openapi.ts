import { z } from 'zod'
import type { Wire } from './call/wire.ts'
import type { Generation } from './plugin/generation.ts'
import type { LiveRoute } from './route.ts'

type Schema = Record<string, unknown>

const errorSchema: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'status'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        status: { type: 'integer' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        request_id: { type: 'string' },
        module: { type: 'string' },
        details: { type: 'object' },
      },
    },
  },
}

const security: Readonly<Record<string, readonly Schema[]>> = {
  public: [],
  any: [{ bearer: [] }],
  user: [{ bearer: [] }],
  admin: [{ bearer: [] }, { adminKey: [] }],
}

/** The OpenAPI 3.1 document of what is switched on right now. */
export function openapi(generation: Generation, version: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  const add = (path: string, method: string, operation: Schema): void => {
    paths[path] = { ...paths[path], [method]: operation }
  }
  for (const wire of generation.wires.values()) add(wire.path, 'post', wireOperation(wire))
  for (const route of generation.routes) add(route.path, route.method, routeOperation(route))
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key' },
      },
    },
  }
}

function wireOperation(wire: Wire): Schema {
  return {
    summary: wire.summary,
    operationId: operationIdOf('post', wire.path),
    tags: ['proxy'],
    security: security.any,
    requestBody: { required: true, content: json(schemaOf(wire.body, 'input')) },
    responses: {
      200: {
        description: 'The answer; with `stream: true`, server-sent events.',
        content: { ...json({ type: 'object' }), 'text/event-stream': { schema: { type: 'string' } } },
      },
      default: failure,
    },
  }
}

function routeOperation(route: LiveRoute): Schema {
  return {
    summary: route.summary,
    operationId: operationIdOf(route.method, route.path),
    tags: [route.tag ?? route.plugin],
    security: security[route.access],
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(route.body && { requestBody: { required: true, content: json(schemaOf(route.body, 'input')) } }),
    responses: {
      [route.status ?? 200]: { description: 'Done.', content: contentOf(route) },
      default: failure,
    },
  }
}

/** A name that generated clients can use for a function: `get_api_proxy_modules_name`. */
const operationIdOf = (method: string, path: string): string =>
  [method, ...(path.match(/[A-Za-z0-9]+/g) ?? [])].join('_')

function contentOf({ returns }: LiveRoute): Schema {
  if (returns === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  if (returns === 'text') return { 'text/plain': { schema: { type: 'string' } } }
  return json(schemaOf(returns, 'output'))
}

const failure = { description: 'The error envelope.', content: json({ $ref: '#/components/schemas/Error' }) }

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

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
