import { type Call, type Completion, type Reply, UpstreamError } from '#kernel'
import { estimateTokens, pause, replyWith, requestTexts } from '#kit'
import type { Fixture } from './fixture.ts'

/** The fixture's answer in the form the call asked for, with its delays. Throws the failure that the fixture prescribes. */
export async function answerOf(fixture: Fixture, text: string, call: Call): Promise<Reply> {
  if (fixture.delay_ms > 0) await pause(fixture.delay_ms, call.cancel)
  if (fixture.error) throw failure(fixture.error, call)
  const reply = replyWith(call, bodyOf(fixture, text, call))
  if (reply.kind === 'whole' || fixture.chunk_delay_ms === 0) return reply
  return reply.through(paced(reply.chunks, fixture.chunk_delay_ms, call))
}

function bodyOf({ tool_calls }: Fixture, text: string, call: Call): Completion {
  const prompt = requestTexts(call.request).reduce((sum, part) => sum + estimateTokens(part.text), 0)
  const said = estimateTokens(text) + estimateTokens(tool_calls.length > 0 ? JSON.stringify(tool_calls) : '')
  const usage = { prompt_tokens: prompt, completion_tokens: said, total_tokens: prompt + said }
  const head = { created: Math.floor(Date.now() / 1000), model: call.request.model }
  if (call.operation === 'completion') {
    const choice = { index: 0, text, logprobs: null, finish_reason: 'stop' } as const
    return { id: `cmpl-${call.id}`, object: 'text_completion', ...head, choices: [choice], usage }
  }
  const calls = tool_calls.map(({ name, arguments: fields }, n) => ({
    id: `call_${n + 1}`,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(fields) },
  }))
  const message = {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  } as const
  const choice = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
  } as const
  return { id: `chatcmpl-${call.id}`, object: 'chat.completion', ...head, choices: [choice], usage }
}

function failure({ status, message }: NonNullable<Fixture['error']>, call: Call): UpstreamError {
  const retryable = status === 429 || status >= 500
  return new UpstreamError(
    status === 429 ? 'rate_limited' : status < 500 ? 'bad_request' : 'provider_error',
    message,
    {
      provider: 'mockllm',
      model: call.request.model,
      fault: 'status',
      providerStatus: status,
      status: status < 500 ? status : 502,
      retryable,
    },
  )
}

async function* paced<T>(batches: AsyncIterable<T>, ms: number, call: Call): AsyncGenerator<T> {
  let first = true
  for await (const batch of batches) {
    if (!first) await pause(ms, call.cancel)
    first = false
    yield batch
  }
}
