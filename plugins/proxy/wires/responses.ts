import {
  type Asking,
  type Context,
  kernelServices,
  type ModelRequest,
  newId,
  Sealing,
  type Wire,
} from '#kernel'
import { personalOfUsers, protocolOptions } from '#kit'
import { Changes } from '#provider'
import { responseOf } from './responses/answer.ts'
import { type Asked, repeatedOf } from './responses/asked.ts'
import { checked } from './responses/checked.ts'
import { ResponsesEncoder } from './responses/encoder.ts'
import { errorOf } from './responses/errors.ts'
import { identified, itemsOf, resolved } from './responses/items.ts'
import { inputOf, requestOf } from './responses/request.ts'
import { addResponseRoutes, ownerOf } from './responses/routes.ts'
import { responsesBody } from './responses/schema.ts'
import { responseEvents, responseShape } from './responses/shapes.ts'
import { type Limits, StoredResponses } from './responses/stored.ts'

/** Between two looks for stored responses that are to go, in milliseconds. */
const sweepMs = 5 * 60_000

/** OpenAI's Responses, with the conversations that its callers go on with. */
export function addResponses(context: Context<unknown>, limits: Limits): void {
  const { id, use } = context
  const stored = new StoredResponses({
    store: context.store,
    log: context.log,
    limits,
    seal: (owner, text) => {
      const seal = use(Sealing).sealFor(id, { kind: 'user', id: owner })
      return seal instanceof Promise ? seal.then((sealed) => sealed(text)) : seal(text)
    },
    // Responses of earlier versions are encrypted under the one key of all.
    async open(text) {
      try {
        const isSealed = use(Sealing).isSealed(text)
        return isSealed ? await use(Sealing).open(id, text) : use(kernelServices.secrets).decrypt(text)
      } catch (err) {
        context.log.warn({ err }, 'a stored response cannot be opened')
        return undefined
      }
    },
    inEachThread: (run) => context.inEachThread('responses written', run),
  })
  context.every(sweepMs, () => stored.sweep())
  context.own(() => stored.close())
  context.personal(personalOfUsers({ count: (id) => stored.count(id), erase: (id) => stored.forget(id) }))
  context.wire(responsesWire(stored))
  addResponseRoutes(context, stored)
}

function responsesWire(stored: StoredResponses): Wire {
  const key = Symbol('asked')

  const askedOf = ({ trace }: Asking): Asked =>
    trace.slot<Asked>(key, () => {
      throw new Error('a response is written for a request that was not read')
    })

  async function decode(value: unknown, { principal, trace }: Asking): Promise<ModelRequest> {
    const body = checked(responsesBody, value)
    const owner = ownerOf(principal)
    const previous = body.previous_response_id
    const turns = previous == null ? [] : await stored.conversation(owner, previous, 'previous_response_id')
    const input = await resolved(inputOf(body), owner, stored)
    const changes = new Changes({ trace })
    const report = (change: string): void => changes.add(change)
    const { request, places, toolbox, freeText } = requestOf(body, itemsOf(turns), input, report)
    if (Object.keys(freeText).length > 0) protocolOptions({ trace }, 'openai').free_text_tools = freeText
    const store = body.store !== false && stored.enabled
    const id = newId('resp_')
    trace.slot<Asked>(key, () => ({
      id,
      createdAt: Date.now(),
      model: body.model,
      repeated: repeatedOf(body, store),
      places,
      toolbox,
      keep: store ? (response) => stored.put(owner, { response, input: identified(input, id) }) : undefined,
    }))
    return request
  }

  return {
    id: 'responses',
    path: '/v1/responses',
    operation: 'chat',
    summary: 'A response in the format of OpenAI’s Responses, plain or streamed',
    body: responsesBody,
    answer: responseShape,
    events: responseEvents,
    decode,
    encode: (body, _, asking) => responseOf(body, askedOf(asking)),
    encoder: (_, __, asking) => new ResponsesEncoder(askedOf(asking)),
    error: (error, requestId, asking) => errorOf(error, requestId, asking && askedOf(asking).places),
  }
}
