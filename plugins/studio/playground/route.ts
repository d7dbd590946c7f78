import { z } from 'zod'
import {
  type CallCredential,
  type Completion,
  type Context,
  jsonOrEvents,
  type MadeCall,
  type ServerEvent,
} from '#kernel'
import { answerText, callFigures, callProblem, collect, Listening } from '#kit'
import { requestOf, type TestRequest, testRequest } from './input.ts'

const figure = z.number().nullable()

const tested = z.object({
  content: z.string().meta({ description: 'The text of the answer.' }),
  message: z.record(z.string(), z.unknown()).meta({ description: 'The whole message of the model.' }),
  model: z.string(),
  provider: z.string().nullable(),
  tokens_in: figure,
  tokens_out: figure,
  cost_usd: figure,
  latency_ms: figure,
  ttft_ms: figure,
  finish_reason: z.string().nullable(),
  trace_id: z.string().meta({ description: 'Says what each module did; it is there a moment later.' }),
})
type Tested = z.infer<typeof tested>

/** To try a prompt: a call like one from outside, in the name of the caller, which figures of users leave out. */
export function addPlaygroundRoute({ route, call }: Pick<Context<unknown>, 'route' | 'call'>): void {
  route({
    method: 'post',
    path: '/api/studio/playground',
    access: 'any',
    summary: 'Send a test request through all modules; with `stream: true` the answer comes as events',
    body: testRequest,
    returns: jsonOrEvents(tested),
    events: [
      { event: 'delta', data: z.object({ content: z.string() }) },
      { event: 'done', data: tested },
      { event: 'error', data: z.object({ code: z.string(), message: z.string() }) },
    ],
    throws: [402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504],
    // It changes nothing: the call has its trace, and its entry in the ledger.
    reads: true,
    async handle({ body, principal, ip, signal }) {
      const credential = credentialOf(body)
      const made = call(requestOf(body), {
        as: principal!,
        source: 'playground',
        ip,
        skip: Object.keys(body.modules ?? {}),
        signal,
        ...(credential && { credential }),
      })
      return body.stream
        ? events(made, body.model)
        : testedOf(made, body.model, await collect(await made.reply))
    },
  })
}

const credentialOf = ({ provider, api_key: key }: TestRequest): CallCredential | undefined =>
  key === undefined || provider === undefined ? undefined : { provider, key }

async function testedOf(made: MadeCall, model: string, completion: Completion): Promise<Tested> {
  const { message, finish_reason = null } = completion.choices?.[0] ?? {}
  const outcome = await made.outcome
  return {
    content: answerText(completion),
    message: { ...message },
    model: completion.model ?? model,
    ...(outcome ? callFigures(outcome) : none),
    finish_reason,
    trace_id: made.id,
  }
}

const none = {
  provider: null,
  tokens_in: null,
  tokens_out: null,
  cost_usd: null,
  latency_ms: null,
  ttft_ms: null,
}

async function* events(made: MadeCall, model: string): AsyncGenerator<ServerEvent> {
  const listening = new Listening()
  try {
    const reply = await made.reply
    if (reply.kind === 'stream')
      for await (const chunks of reply.chunks) {
        const content = listening.hear(chunks)
        if (content !== '') yield { event: 'delta', data: { content } }
      }
    const completion = reply.kind === 'stream' ? listening.completion : reply.body
    yield { event: 'done', data: await testedOf(made, model, completion) }
  } catch (error) {
    yield { event: 'error', data: callProblem(error) }
  }
}
