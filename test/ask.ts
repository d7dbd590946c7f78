import { Assembler } from '../kit/canonical/assemble.ts'
import type { Completion, CompletionChunk } from '../kit/canonical/forms.ts'
import type { GatewayUnderTest } from './harness.ts'

/** A call of a client, as it goes over the wire. */
export interface Question {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or what becomes JSON. */
  readonly body: unknown
}

/** What the client got. A stream's body is the answer that its chunks make, or its error. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** Makes a call with the admin key, unless the headers bring another; resolves with the last byte. */
export async function ask(
  { url, adminKey }: Pick<GatewayUnderTest, 'url' | 'adminKey'>,
  { path = '/v1/chat/completions', headers = {}, body }: Question,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const streamed = response.headers.get('content-type')?.includes('event-stream')
  return {
    status: response.status,
    headers: response.headers,
    body: streamed ? assembled(text) : JSON.parse(text),
  }
}

/** The text of an answer's first choice; undefined where it has none. */
export function textOf(body: unknown): string | undefined {
  const choice = (body as Partial<Completion>).choices?.[0]
  const content = choice?.text ?? choice?.message?.content
  return typeof content === 'string' ? content : undefined
}

function assembled(text: string): Record<string, unknown> {
  const assembler = new Assembler()
  for (const event of text.split('\n\n')) {
    const data = event.replace(/^data: /, '')
    if (data === '' || data === '[DONE]') continue
    const parsed = JSON.parse(data) as CompletionChunk & { error?: unknown }
    if (parsed.error) return parsed
    assembler.add(parsed)
  }
  return assembler.completion()
}
