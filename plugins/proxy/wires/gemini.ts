import { z } from 'zod'
import type { Asking, Context, Wire } from '#kernel'
import { checkAddress, formOf } from './gemini/address.ts'
import { contentOf } from './gemini/answer.ts'
import { addGeminiCountRoute } from './gemini/count-tokens.ts'
import { embedWires } from './gemini/embeddings.ts'
import { type Form, GeminiEncoder } from './gemini/encoder.ts'
import { errorOf } from './gemini/errors.ts'
import { addGeminiModelRoutes } from './gemini/models.ts'
import { modelOf, requestOf, showsThoughts } from './gemini/request.ts'
import { checked, generateBody } from './gemini/schema.ts'
import { answer, answerEvents, errorBody } from './gemini/shapes.ts'

/** The wire of the Gemini API, as Google's libraries speak it: the newer ones without `beta` in the address. */
export function addGemini(context: Context<unknown>): void {
  context.wire(generateWire)
  context.wire(streamWire)
  for (const wire of embedWires) context.wire(wire)
  addGeminiCountRoute(context)
  addGeminiModelRoutes(context)
}

const form = Symbol('form')

const formFor = ({ trace }: Asking): Form => trace.slot<Form>(form, () => 'sse')

const common = {
  id: 'gemini',
  operation: 'chat',
  body: generateBody,
  errors: errorBody,
  check: checkAddress,
  encode: (body, _, asking) => contentOf(body, showsThoughts(asking)),
  encoder: (wire, _, asking) =>
    new GeminiEncoder({ passing: wire === 'gemini', shows: showsThoughts(asking), form: formFor(asking) }),
  error: errorOf,
} as const satisfies Partial<Wire>

const generateWire: Wire = {
  ...common,
  path: '/v1beta/models/{+model}:generateContent',
  aliases: ['/v1/models/{+model}:generateContent'],
  summary: 'Content in the Gemini format',
  answer,
  decode: (body, asking, { params }) =>
    requestOf(checked(generateBody, body), modelOf(params.model!), asking),
}

const streamWire: Wire = {
  ...common,
  path: '/v1beta/models/{+model}:streamGenerateContent',
  aliases: ['/v1/models/{+model}:streamGenerateContent'],
  summary: 'Content in the Gemini format, streamed: as events with `alt=sse`, as one list without',
  answer: z.array(z.union([answer, errorBody])),
  events: answerEvents,
  decode(body, asking, address) {
    const asked = formOf(address)
    asking.trace.slot<Form>(form, () => asked)
    return {
      ...requestOf(checked(generateBody, body), modelOf(address.params.model!), asking),
      stream: true,
    }
  },
}
