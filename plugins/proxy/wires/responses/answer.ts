import type { ChoiceDelta, Completion, CompletionChunk, FinishReason, GatewayError, WireUsage } from '#kernel'
import type { Asked, Response } from './asked.ts'
import { responseError } from './errors.ts'
import type { Events, Piece } from './open-item.ts'
import { Pieces } from './pieces.ts'
import type { Item } from './schema.ts'
import { nativeUsage } from './usage.ts'
import { ItemWriter } from './writer.ts'

/** Why a response is not complete, by what ended it. */
const shortfalls: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** A response while it comes about; whole answers are streams of one chunk. */
export class Answer {
  readonly #asked: Asked
  readonly #events: Events
  readonly #writer: ItemWriter
  readonly #pieces: Pieces
  readonly #take = (piece: Piece): void => this.#writer.write(piece)
  #begun = false
  #model: string
  #tier: unknown
  #usage: WireUsage | undefined
  #finish: FinishReason | undefined

  constructor(asked: Asked, events: Events) {
    const id = asked.id.replace(/^resp_/, '')
    this.#asked = asked
    this.#events = events
    this.#model = asked.model
    this.#writer = new ItemWriter(events, id)
    this.#pieces = new Pieces(asked.toolbox, (index) => `call_${id}_${index}`)
  }

  add({ choices, usage, model, service_tier: tier }: CompletionChunk): void {
    if (model) this.#model = model
    if (tier) this.#tier = tier
    if (usage) this.#usage = usage
    this.begin()
    for (const choice of choices) {
      if (choice.index !== 0) continue
      this.#pieces.cut(choice, this.#take)
      if (choice.finish_reason) this.#finish = choice.finish_reason
    }
  }

  /** Ends the response, and gives it. */
  end(): Response {
    this.begin()
    const reason = this.#finish && shortfalls[this.#finish]
    this.#pieces.end(this.#take)
    const status = reason === undefined ? 'completed' : 'incomplete'
    const response = {
      ...this.#response(status, this.#writer.end(status)),
      ...(reason === undefined
        ? { completed_at: Math.floor(Date.now() / 1000) }
        : { incomplete_details: { reason } }),
    }
    this.#asked.keep?.(response)
    this.#events.emit(`response.${status}`, { response })
    return response
  }

  /** Ends the response as one that failed, with what there is of it. */
  fail(error: GatewayError): void {
    this.begin()
    const items = this.#writer.items.map((item) =>
      item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item,
    )
    const response = { ...this.#response('failed', items), error: responseError(error) }
    this.#events.emit('response.failed', { response })
  }

  /** Tells that there is a response; once. */
  begin(): void {
    if (this.#begun) return
    this.#begun = true
    const response = this.#response('in_progress', [])
    this.#events.emit('response.created', { response })
    this.#events.emit('response.in_progress', { response })
  }

  #response(status: Response['status'], output: readonly Item[]): Response {
    const { id, createdAt, repeated } = this.#asked
    return {
      id,
      object: 'response',
      created_at: Math.floor(createdAt / 1000),
      status,
      error: null,
      incomplete_details: null,
      model: this.#model,
      output,
      ...repeated,
      ...(this.#tier !== undefined && { service_tier: this.#tier }),
      usage: nativeUsage(this.#usage),
    }
  }
}

const nowhere: Events = { emit() {}, grow() {} }

/** A whole answer as a response. */
export function responseOf(body: Completion, asked: Asked): Response {
  const answer = new Answer(asked, nowhere)
  const { choices = [], data: _, ...head } = body
  answer.add({ ...head, choices: choices.map(deltaOf) } as CompletionChunk)
  return answer.end()
}

function deltaOf({ message, ...choice }: NonNullable<Completion['choices']>[number]): ChoiceDelta {
  if (!message) return choice
  const { tool_calls: calls, ...delta } = message
  return {
    ...choice,
    delta: { ...delta, ...(calls && { tool_calls: calls.map((call, index) => ({ ...call, index })) }) },
  } as ChoiceDelta
}
