import { z } from 'zod'
import type { EventShape } from '#kernel'

/** A JSON Schema, or another object of the document. */
export type Schema = Record<string, unknown>

/** What zod checks, as JSON Schema: of what comes in, or of what goes out. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

/** One event of a stream, whose data is a text; of most that text is JSON. */
export function eventSchema(events: readonly EventShape[] | undefined): Schema {
  if (!events) return { type: 'object', required: ['data'], properties: { data: { type: 'string' } } }
  return { anyOf: events.map(({ event, data }) => oneEvent(event, data)) }
}

const oneEvent = (event: string | undefined, data: EventShape['data']): Schema => ({
  type: 'object',
  required: event === undefined ? ['data'] : ['event', 'data'],
  properties: {
    ...(event !== undefined && { event: { const: event } }),
    data:
      typeof data === 'string'
        ? { const: data }
        : { type: 'string', contentMediaType: 'application/json', contentSchema: schemaOf(data, 'output') },
    id: { type: 'string' },
  },
})

/** The error envelope. */
export const errorSchema: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'status', 'type', 'param', 'request_id'],
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
